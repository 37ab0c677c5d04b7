// A small ground of our own, without Pavilion: an app, a live picture with burned-in codes, and a score plane that can
// be told to misbehave. For the suites that test the page alone.

import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const DIST = new URL('../../web/dist/', import.meta.url);
const [WIDTH, HEIGHT, RATE] = [320, 180, 25];
/** Of one segment, seconds. */
const SEGMENT_S = 2;
/** How much of the match lies behind when the page is opened, ms. */
const PAST_MS = 40_000;
/** Length of the whole, seconds. */
const LENGTH_S = 180;

const TEAMS = ['Chennai Super Kings', 'Kolkata Knight Riders'];

// The score.

const place = (over, ball) => ((1 * 1000 + over) * 1000 + ball) * 1000;

function delivery(id, runs, more = {}) {
  const at = { innings: 1, over: Math.floor(id / 1e6) % 1000, ball: Math.floor(id / 1e3) % 1000, slot: 0 };
  const who = { batter: 'A Bat', non_striker: 'B Bat', bowler: at.over % 2 ? 'D Bowl' : 'C Bowl' };
  return { sport: 'cricket', at, kind: 'delivery', ...who, runs, ...more };
}

/** What happens, by venue time: a ball each 2.4 s, corrections, and a ball that is taken back and bowled again. */
function script(epoch) {
  const all = [];
  const revisions = new Map();
  const say = (ms, id, body, delay = 700) => {
    const revision = (revisions.get(id) ?? 0) + 1;
    revisions.set(id, revision);
    all.push({ event_id: id, revision, venue_ms: Math.round(epoch + ms), body, delay });
  };
  for (let n = 0, at = 1_000; at < LENGTH_S * 1000; n += 1, at += 2_400) {
    const id = place(Math.floor(n / 6), (n % 6) + 1);
    say(at, id, delivery(id, [0, 1, 4, 2, 6, 0, 3][n % 7]));
    if (n % 5 === 3) {
      // Four balls ago, corrected a second after this ball; the words are late.
      const old = place(Math.floor((n - 2) / 6), ((n - 2) % 6) + 1);
      say(at + 1_000, old, delivery(old, 5), 1_500);
    }
    if (n % 7 === 6) {
      say(at + 900, id, { sport: 'withdrawn', event_id: id, reason: 'scorer_error' });
      say(at + 1_700, id, delivery(id, 1));
    }
  }
  return all.sort((a, b) => a.venue_ms + a.delay - (b.venue_ms + b.delay)).map((e, i) => ({ ...e, offset: i + 1 }));
}

/** The card of what is known: of each happening the highest revision up to `at`, in the order of the field. */
function fold(known, at, upto = Number.POSITIVE_INFINITY) {
  const best = new Map();
  for (const e of known) {
    if (e.venue_ms > at || e.event_id > upto) continue;
    if ((best.get(e.event_id)?.revision ?? 0) < e.revision) best.set(e.event_id, e);
  }
  const balls = [...best.values()]
    .sort((a, b) => a.event_id - b.event_id)
    .filter((e) => e.body.kind === 'delivery')
    .map((e) => e.body);
  const runs = balls.reduce((sum, b) => sum + b.runs, 0);
  const last = balls.at(-1);
  const inOver = balls.filter((b) => b.at.over === last?.at.over);
  const legal = last ? last.at.over * 6 + inOver.length : 0;
  const overs = `${Math.floor(legal / 6)}.${legal % 6}`;
  const text = last ? `CSK ${runs}/0 (${overs})` : 'CSK v KKR';
  const score = {
    sport: 'cricket', innings: last ? 1 : 0, batting: TEAMS[0], bowling: TEAMS[1], runs, wickets: 0, overs,
    balls: balls.length, target: null, text,
  };
  const bowlers = [...new Set(balls.map((b) => b.bowler))].map((name) => {
    const bowled = balls.filter((b) => b.bowler === name);
    const conceded = bowled.reduce((sum, b) => sum + b.runs, 0);
    return {
      name, overs: `${Math.floor(bowled.length / 6)}.${bowled.length % 6}`, balls: bowled.length, maidens: 0,
      runs: conceded, wickets: 0, wides: 0, noballs: 0, dots: 0, economy: 6,
    };
  });
  const over = inOver.map((b) => (b.runs === 0 ? '.' : String(b.runs)));
  const innings = {
    innings: 1, batting: TEAMS[0], bowling: TEAMS[1], super_over: false, runs, wickets: 0, overs, balls_per_over: 6,
    balls: legal, deliveries: balls.length, run_rate: legal ? (runs * 6) / legal : null,
    extras: { wides: 0, noballs: 0, byes: 0, legbyes: 0, penalty: 0, total: 0 },
    batters: ['A Bat', 'B Bat'].map((name, i) => ({
      name, runs: i === 0 ? runs : 0, balls: i === 0 ? balls.length : 0, fours: 0, sixes: 0, strike_rate: 100,
      status: 'batting', how: null, out: null,
    })),
    bowlers, partnerships: [], fall: [],
    over_summaries: last ? [{ number: last.at.over + 1, bowlers: [last.bowler], runs: 0, wickets: 0, balls: over, score: '' }] : [],
    ended: null, target: null, method: null, runs_needed: null, balls_left: null, required_rate: null, overs_max: 20,
    striker: 'A Bat', non_striker: 'B Bat', bowler: last?.bowler ?? null, over,
  };
  const card = {
    sport: 'cricket', teams: TEAMS, toss: { winner: TEAMS[1], decision: 'field' }, format: 'T20', balls_per_over: 6,
    overs: 20, status: 'in_play', interrupted: null, innings: last ? [innings] : [], deliveries: balls.length,
    result: null, announced: null, decided: null, player_of_match: [],
  };
  return { score, card };
}

const moment = (e) =>
  [4, 6].includes(e.body.runs)
    ? {
        event_id: e.event_id, venue_ms: e.venue_ms, seek_ms: e.venue_ms, kind: e.body.runs === 4 ? 'four' : 'six',
        text: `${e.body.runs === 4 ? 'Four' : 'Six'} by A Bat, ball ${e.event_id}`,
      }
    : undefined;

// The picture.

function draw(plane, value, [left, top]) {
  let crc = 0;
  for (const shift of [24, 16, 8, 0]) {
    crc ^= (value >>> shift) & 0xff;
    for (let n = 0; n < 8; n++) crc = crc & 0x80 ? ((crc << 1) ^ 7) & 0xff : crc << 1;
  }
  const bits = value.toString(2).padStart(32, '0') + (crc ^ 0x55).toString(2).padStart(8, '0');
  for (let n = 0; n < 40; n += 1) {
    const [x, y] = [left + (n % 20) * 8, top + Math.floor(n / 20) * 8];
    for (let row = y; row < y + 8; row += 1) plane.fill(bits[n] === '1' ? 235 : 16, row * WIDTH + x, row * WIDTH + x + 8);
  }
}

async function film(folder, epoch, known) {
  const args = [
    '-v', 'error', '-f', 'rawvideo', '-pix_fmt', 'gray', '-s', `${WIDTH}x${HEIGHT}`, '-r', `${RATE}`, '-i', '-',
    '-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-g', `${RATE * SEGMENT_S}`, '-keyint_min',
    `${RATE * SEGMENT_S}`, '-sc_threshold', '0', '-f', 'hls', '-hls_time', `${SEGMENT_S}`, '-hls_list_size', '0',
    '-hls_segment_type', 'fmp4', '-hls_segment_filename', join(folder, '%d.m4s'), join(folder, 'all.m3u8'),
  ];
  const ffmpeg = spawn('ffmpeg', args, { stdio: ['pipe', 'inherit', 'inherit'] });
  const exited = once(ffmpeg, 'exit');
  for (let n = 0; n < LENGTH_S * RATE; n += 1) {
    const ms = epoch + (n * 1000) / RATE;
    const plane = Buffer.alloc(WIDTH * HEIGHT, 90 + (n % 25));
    draw(plane, ms % 2 ** 32 >>> 0, [WIDTH / 40, (HEIGHT * 39) / 45]);
    draw(plane, fold(known, ms).score.balls, [(WIDTH * 19) / 40, (HEIGHT * 2) / 45]);
    if (!ffmpeg.stdin.write(plane)) await once(ffmpeg.stdin, 'drain');
  }
  ffmpeg.stdin.end();
  const [code] = await exited;
  if (code !== 0) throw new Error(`ffmpeg: ${code}`);
}

function playlist(epoch) {
  const segments = Math.min(LENGTH_S / SEGMENT_S, Math.floor((Date.now() - epoch) / 1000 / SEGMENT_S));
  const lines = [
    '#EXTM3U', '#EXT-X-VERSION:7', `#EXT-X-TARGETDURATION:${SEGMENT_S}`, '#EXT-X-PLAYLIST-TYPE:EVENT',
    '#EXT-X-MAP:URI="init.mp4"', `#EXT-X-PROGRAM-DATE-TIME:${new Date(epoch).toISOString()}`,
  ];
  for (let n = 0; n < segments; n += 1) lines.push(`#EXTINF:${SEGMENT_S}.0,`, `${n}.m4s`);
  return `${lines.join('\n')}\n`;
}

// The servers.

const KINDS = { html: 'text/html', js: 'text/javascript', css: 'text/css', mp4: 'video/mp4', m4s: 'video/mp4', m3u8: 'application/vnd.apple.mpegurl' };

/** One frame of text (RFC 6455, 5.2). */
function frame(text, opcode = 1) {
  const payload = Buffer.from(text);
  const head = payload.length < 126 ? Buffer.from([0x80 | opcode, payload.length]) : Buffer.from([0x80 | opcode, 126, payload.length >> 8, payload.length & 0xff]);
  return Buffer.concat([head, payload]);
}

/** Texts in a client's bytes; small frames only, as clients send. */
function* unframe(state, bytes) {
  state.rest = Buffer.concat([state.rest, bytes]);
  while (state.rest.length >= 6) {
    const size = state.rest[1] & 0x7f;
    const [start, length] = size === 126 ? [8, state.rest.readUInt16BE(2)] : [6, size];
    if (state.rest.length < start + length) return;
    const mask = state.rest.subarray(start - 4, start);
    const text = state.rest.subarray(start, start + length).map((b, i) => b ^ mask[i % 4]);
    if ((state.rest[0] & 0xf) === 1) yield Buffer.from(text).toString();
    state.rest = state.rest.subarray(start + length);
  }
}

/** @param picture whether the match has one. */
export async function fake({ picture = true } = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'pavilion-fake-'));
  let epoch = Math.ceil(Date.now() / 1000) * 1000;
  let events = script(epoch);
  if (picture) {
    // It takes some seconds; the match begins so that it has a past when they are over.
    epoch = Math.ceil(Date.now() / 1000) * 1000;
    events = script(epoch);
    await film(folder, epoch, events);
    const shift = Math.max(0, PAST_MS - (Date.now() - epoch));
    await new Promise((resolve) => setTimeout(resolve, shift));
  } else {
    epoch -= PAST_MS;
    events = script(epoch);
  }
  const sockets = new Set();
  /** Statements of a scorer's page, and how the feed behaves. */
  const feed = { lines: new Map(), up: true, opened: 0, lose: 0 };
  const stream = { up: true, ways: ['ws', 'sse', 'poll'], used: new Set(), cards: 0 };
  const known = () => events.filter((e) => e.venue_ms + e.delay <= Date.now());
  const cursor = (offset) => `1f-${offset}`;
  const told = (e) => {
    const upto = events.filter((o) => o.offset <= e.offset);
    const { score } = fold(upto, Number.POSITIVE_INFINITY, e.event_id);
    return {
      type: 'score_event', match_id: 'demo', event_id: e.event_id, revision: e.revision, cursor: cursor(e.offset),
      venue_ms: e.venue_ms, ingest_ms: e.venue_ms + e.delay, correction: e.revision > 1, body: e.body, score, moment: moment(e),
    };
  };

  const card = (query) => {
    const all = known();
    const at = query.has('at') ? Number(query.get('at')) : Number.POSITIVE_INFINITY;
    const first = all.findIndex((e) => e.venue_ms > at);
    stream.cards += 1;
    return {
      match_id: 'demo', at: query.has('at') ? at : null, cursor: cursor(first < 0 ? all.length : first),
      upto: cursor(all.length), ...fold(all, at),
    };
  };

  const acked = () => {
    let n = 0;
    while (feed.lines.has(n + 1)) n += 1;
    return n;
  };

  const missing = () => {
    const most = Math.max(0, ...feed.lines.keys());
    return Array.from({ length: most }, (_, i) => i + 1).filter((n) => n > acked() && !feed.lines.has(n)).map((n) => [n, n]);
  };

  async function answer(request, url, body) {
    const path = url.pathname;
    if (path === '/v1/time') return { utc_ms: Date.now() };
    if (path === '/v1/matches') return [{ match: 'demo', title: 'CSK v KKR', live: true, status: 'live', start_ms: epoch, sport: 'cricket', watchable: picture }];
    if (path === '/v1/matches/demo/play') {
      const base = `http://127.0.0.1:${server.address().port}`;
      return {
        match: 'demo', title: 'CSK v KKR', programme: 'main', run: 'r', epoch: new Date(epoch).toISOString(),
        playlist: picture ? `${base}/media/master.m3u8` : null, grid: { segment_ms: SEGMENT_S * 1000, part_ms: 320 },
        scores: { stream: `${base.replace('http', 'ws')}/v1/stream`, base, token: 'token' },
      };
    }
    if (path === '/v1/scorer') return { feeds: `http://127.0.0.1:${server.address().port}` };
    if (path === '/v1/matches/demo/card') return card(url.searchParams);
    if (path === '/v1/matches/demo/moments') return { match_id: 'demo', cursor: cursor(0), moments: known().map(moment).filter(Boolean) };
    if (path === '/v1/matches/demo/watching') return { watching: 1234 };
    if (path === '/v1/matches/demo/snapshot') {
      const all = known();
      return {
        match_id: 'demo', as_of_event_id: cursor(all.length), status: 'live', title: 'CSK v KKR', sport: 'cricket',
        score: fold(all, Number.POSITIVE_INFINITY).score, feed_delayed: false, recent: all.slice(-10).map(told),
      };
    }
    if (path.startsWith('/v1/feeds/')) return feeds(request, path, body);
    return null;
  }

  function feeds(request, path, body) {
    if (!feed.up) return { status: 503 };
    if (path === '/v1/feeds/scorer/open') {
      if (JSON.parse(body).code !== '2468' || feed.opened > 0) return { status: 403, title: 'Forbidden' };
      feed.opened += 1;
      return { token: 'scorer-token', feed: 'scorer-demo' };
    }
    if (request.headers.authorization !== 'Bearer scorer-token') return { status: 401, title: 'Unauthorized' };
    if (path === '/v1/feeds/scorer/state') return { match: 'demo', acked: acked(), next_seq: Math.max(0, ...feed.lines.keys()) + 1, missing: missing(), statements: [...feed.lines.values()] };
    for (const line of body.trim().split('\n').map((l) => JSON.parse(l))) {
      if (feed.lose > 0) feed.lose -= 1;
      else feed.lines.set(line.seq, line);
    }
    return { acked: acked(), missing: missing(), rejected: [] };
  }

  /** The stream over plain HTTP: server-sent events, or one long-poll. */
  async function fetched(url, response, cors) {
    const way = url.searchParams.get('mode') === 'poll' ? 'poll' : 'sse';
    // A proxy between us answers what it does not let through with a page of its own.
    if (!stream.up || !stream.ways.includes(way)) return response.writeHead(404, cors).end();
    stream.used.add(way);
    const last = /demo:1f-(\d+)/.exec(url.searchParams.get('last_event_id') ?? '');
    const sent = last ? Number(last[1]) : known().length;
    const begin = { type: 'subscribed', match_id: 'demo', cursor: cursor(sent) };
    if (way === 'poll') {
      const end = Date.now() + 1_000 * Number(url.searchParams.get('wait'));
      const fresh = () => known().filter((e) => e.offset > sent);
      while (last && fresh().length === 0 && Date.now() < end) await new Promise((resolve) => setTimeout(resolve, 50));
      const events = last ? fresh() : [];
      const at = cursor(events.at(-1)?.offset ?? sent);
      const body = { events: last ? events.map(told) : [begin], last_event_id: `demo:${at}` };
      return response.writeHead(200, { ...cors, 'content-type': 'application/json' }).end(JSON.stringify(body));
    }
    response.writeHead(200, { ...cors, 'content-type': 'text/event-stream' });
    const client = { socket: response.socket, sent, write: (text) => response.write(`data: ${text}\n\n`) };
    sockets.add(client);
    response.on('close', () => sockets.delete(client));
    send(client, begin);
    pump(client);
    send(client, { type: 'live', match_id: 'demo' });
    response.write(': beat\n\n');
  }

  async function file(path) {
    if (path === '/media/master.m3u8') {
      return ['m3u8', '#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=300000,RESOLUTION=320x180,CODECS="avc1.42c00d"\nv.m3u8\n'];
    }
    if (path === '/media/v.m3u8') return ['m3u8', playlist(epoch)];
    if (path.startsWith('/media/')) return [path.split('.').at(-1), await readFile(join(folder, path.slice(7)))];
    const name = path.startsWith('/assets/') || path === '/score-sw.js' ? path.slice(1) : 'index.html';
    return [name.split('.').at(-1), await readFile(new URL(name, DIST))];
  }

  const server = createServer(async (request, response) => {
    const url = new URL(request.url, 'http://fake');
    let body = '';
    for await (const piece of request) body += piece;
    const cors = { 'access-control-allow-origin': '*', 'access-control-allow-headers': '*', 'cache-control': 'no-store' };
    try {
      if (request.method === 'OPTIONS') response.writeHead(204, cors).end();
      else if (url.pathname === '/v1/stream') await fetched(url, response, cors);
      else if (url.pathname.startsWith('/v1/')) {
        const found = await answer(request, url, body);
        const status = found?.status && Number.isInteger(found.status) ? found.status : found ? 200 : 404;
        response.writeHead(status, { ...cors, 'content-type': 'application/json' }).end(JSON.stringify(found ?? {}));
      } else {
        const [kind, bytes] = await file(url.pathname);
        response.writeHead(200, { ...cors, 'content-type': KINDS[kind] ?? 'application/octet-stream' }).end(bytes);
      }
    } catch {
      response.writeHead(404, cors).end();
    }
  });

  server.on('upgrade', (request, socket) => {
    socket.on('error', () => undefined);
    if (!stream.up || !stream.ways.includes('ws')) {
      socket.destroy();
      return;
    }
    const accept = createHash('sha1').update(`${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
    socket.write(`HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\nSec-WebSocket-Protocol: pavilion.scores.json.v1\r\n\r\n`);
    stream.used.add('ws');
    const client = { socket, rest: Buffer.alloc(0), sent: null, write: (text) => socket.write(frame(text)) };
    sockets.add(client);
    socket.on('close', () => sockets.delete(client));
    socket.on('data', (bytes) => {
      for (const text of unframe(client, bytes)) {
        const { op, since_event_id } = JSON.parse(text);
        if (op !== 'subscribe') continue;
        client.sent = since_event_id ? Number(since_event_id.split('-')[1]) : known().length;
        send(client, { type: 'subscribed', match_id: 'demo', cursor: cursor(client.sent) });
        pump(client);
        send(client, { type: 'live', match_id: 'demo' });
      }
    });
  });
  const send = (client, message) => client.write(JSON.stringify(message));
  const pump = (client) => {
    if (client.sent === null) return;
    for (const e of known()) if (e.offset > client.sent) {
      send(client, told(e));
      client.sent = e.offset;
    }
  };
  const pumping = setInterval(() => sockets.forEach(pump), 20);

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    epoch,
    stream,
    feed,
    /** To everyone. */
    tell: (message) => sockets.forEach((client) => send(client, message)),
    /** Cuts every socket. */
    cut: () => sockets.forEach(({ socket }) => socket.destroy()),
    headline: (at) => fold(known(), at).score,
    async close() {
      clearInterval(pumping);
      sockets.forEach(({ socket }) => socket.destroy());
      server.closeAllConnections();
      server.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
