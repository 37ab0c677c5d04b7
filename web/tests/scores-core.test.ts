import { describe, expect, test } from 'vitest';
import { Core, type Effect, type Input, type Update } from '../src/scores/core';
import * as limits from '../src/scores/limits';
import type { Snapshot } from '../src/scores/wire';
import { event, LIMIT_MS, numbers } from './support';

const HALF = (): number => 0.5;

/** A core with its effects sorted by what they are. */
class Bench {
  now = 1_000;
  readonly core: Core;
  readonly stored = new Map<string, string>();
  readonly told: Update[] = [];
  readonly sent: Record<string, string>[] = [];
  readonly all: Effect[] = [];

  constructor(random = HALF) {
    this.core = new Core(random, (match) => this.stored.get(match) ?? null);
  }

  in(input: Input): Effect[] {
    const effects = this.core.input(input, this.now);
    for (const e of effects) {
      this.all.push(e);
      if (e.do === 'tell') this.told.push(e.update);
      else if (e.do === 'send') this.sent.push(JSON.parse(e.text) as Record<string, string>);
      else if (e.do === 'keep' && e.cursor !== null) this.stored.set(e.match, e.cursor);
    }
    return effects;
  }

  frame(frame: object): Effect[] {
    return this.in({ on: 'frame', text: JSON.stringify(frame) });
  }

  /** Subscribed, connected and live on a socket. */
  live(match = 'm', since: string | null = null): void {
    this.in({ on: 'subscribe', match, since });
    this.in({ on: 'token', token: 'first' });
    this.in({ on: 'opened' });
    this.frame({ type: 'subscribed', match_id: match, cursor: since ?? 'a-0' });
    this.frame({ type: 'live', match_id: match });
  }

  /** Lets the wait pass. */
  pass(): Effect[] {
    this.now = Math.max(this.now, this.core.wakeAt ?? this.now);
    return this.in({ on: 'timer' });
  }

  get events(): string[] {
    return this.told.flatMap((u) => (u.type === 'event' ? [`${u.event.event_id}.${u.event.revision}`] : []));
  }

  get states(): string[] {
    return this.told.flatMap((u) => (u.type === 'state' ? [u.state] : []));
  }
}

const snapshot = (as_of_event_id: string): Snapshot => ({
  match_id: 'm',
  as_of_event_id,
  status: 'live',
  title: 'M',
  sport: 'cricket',
  score: null,
  feed_delayed: false,
  recent: [],
  stale: false,
});

const closed = (code: number, more: Partial<Extract<Input, { on: 'closed' }>> = {}): Input => ({
  on: 'closed',
  code,
  status: null,
  retryAfterMs: null,
  ...more,
});

describe('a subscription', () => {
  test('asks for a token, connects, subscribes, and tells events once', () => {
    const b = new Bench();
    b.live();
    expect(b.all.map((e) => e.do)).toContain('token');
    expect(b.sent).toEqual([{ op: 'subscribe', match_id: 'm' }]);
    b.frame(event(1, 1, 'a-1'));
    b.frame(event(1, 1, 'a-1'));
    b.frame(event(2, 1, 'a-2'));
    b.frame(event(1, 2, 'a-3'));
    b.frame(event(1, 1, 'a-4'));
    expect(b.events).toEqual(['1.1', '2.1', '1.2']);
    expect(b.core.cursor('m')).toBe('a-4');
    expect(b.states).toEqual(['connecting', 'replaying', 'live']);
  });

  test('moves and keeps its cursor before the event is given out', () => {
    const b = new Bench();
    b.live();
    const order = b.frame(event(1, 1, 'a-1')).map((e) => e.do);
    expect(order).toEqual(['keep', 'tell']);
  });

  test('goes on from what was kept, and from what is asked for', () => {
    const b = new Bench();
    b.stored.set('m', 'a-7');
    b.in({ on: 'subscribe', match: 'm', since: null });
    b.in({ on: 'token', token: '' });
    b.in({ on: 'opened' });
    expect(b.sent).toEqual([{ op: 'subscribe', match_id: 'm', since_event_id: 'a-7' }]);
    b.in({ on: 'subscribe', match: 'm', since: 'a-3' });
    expect(b.sent.slice(1)).toEqual([
      { op: 'unsubscribe', match_id: 'm' },
      { op: 'subscribe', match_id: 'm', since_event_id: 'a-3' },
    ]);
    // What still comes of the subscription before does not move the cursor past the replay.
    b.frame(event(9, 1, 'a-9'));
    expect(b.core.cursor('m')).toBe('a-3');
    b.frame({ type: 'subscribed', match_id: 'm', cursor: 'a-3' });
    b.frame(event(4, 1, 'a-4'));
    b.frame(event(9, 1, 'a-9'));
    expect(b.events).toEqual(['4.1', '9.1']);
  });

  test('rubbish is counted and passed over', () => {
    const b = new Bench();
    b.live();
    for (const text of [
      '',
      '{',
      'null',
      '[]',
      '42',
      '{"type":"new_thing"}',
      '{"type":"score_event"}',
      '\u0000',
    ]) {
      b.in({ on: 'frame', text });
    }
    b.frame({ ...event(1, 1, 'a-1'), event_id: -1 });
    b.frame({ ...event(1, 1, 'a-1'), revision: 0 });
    b.frame({ ...event(1, 1, 'a-1'), venue_ms: 'soon' });
    b.frame({ ...event(1, 1, 'a-1'), match_id: 'other' });
    b.frame({ ...event(1, 1, 'a-1'), score: 7, moment: 'x' });
    expect(b.core.rubbish).toBe(11);
    expect(b.events).toEqual(['1.1']);
  });
});

describe('gaps', () => {
  test('an offset of another epoch is never taken for the same log', () => {
    const b = new Bench();
    b.live('m', 'a-400');
    b.frame(event(1, 1, 'a-401'));
    b.in(closed(1006));
    b.pass();
    b.in({ on: 'opened' });
    const effects = b.frame({ type: 'subscribed', match_id: 'm', cursor: 'b-401' });
    expect(effects.map((e) => e.do)).toContain('snapshot');
    expect(b.told).toContainEqual({ type: 'reset', match: 'm', reason: 'new log' });
    expect(b.core.cursor('m')).toBe('b-401');
    // What was seen of the old log says nothing about the new one.
    b.in({ on: 'snapshot', match: 'm', snapshot: snapshot('b-401') });
    b.frame(event(1, 1, 'b-402'));
    expect(b.events).toEqual(['1.1', '1.1']);
  });

  test('a log that is replaced while it is followed is another log', () => {
    const b = new Bench();
    b.live('m', 'a-400');
    b.frame(event(1, 1, 'a-401'));
    expect(b.frame(event(1, 1, 'b-1')).map((e) => e.do)).toContain('snapshot');
    expect(b.told).toContainEqual({ type: 'reset', match: 'm', reason: 'new log' });
    b.in({ on: 'snapshot', match: 'm', snapshot: snapshot('b-0') });
    expect(b.core.cursor('m')).toBe('b-0');
    b.frame({ type: 'subscribed', match_id: 'm', cursor: 'b-0' });
    b.frame(event(1, 1, 'b-1'));
    expect(b.events).toEqual(['1.1', '1.1']);
  });

  test('a server that goes on later than asked is a gap', () => {
    const b = new Bench();
    b.in({ on: 'subscribe', match: 'm', since: 'a-5' });
    b.in({ on: 'token', token: '' });
    b.in({ on: 'opened' });
    b.frame({ type: 'subscribed', match_id: 'm', cursor: 'a-9' });
    expect(b.told).toContainEqual({ type: 'reset', match: 'm', reason: 'gap' });
  });

  test('what comes while the snapshot is on its way is told after it', () => {
    const b = new Bench();
    b.live('m', 'a-5');
    const effects = b.frame({
      type: 'snapshot_required',
      match_id: 'm',
      snapshot_url: '/v1/s',
      cursor: 'a-50',
    });
    expect(effects).toContainEqual({ do: 'snapshot', match: 'm', url: '/v1/s' });
    b.frame(event(51, 1, 'a-51'));
    expect(b.events).toEqual([]);
    b.in({ on: 'snapshot', match: 'm', snapshot: snapshot('a-50') });
    expect(b.told.slice(-2).map((u) => u.type)).toEqual(['snapshot', 'event']);
  });

  test('a snapshot that is older than the stream is joined to it, once', () => {
    const b = new Bench();
    b.live('m', 'a-5');
    const required = { type: 'snapshot_required', match_id: 'm', snapshot_url: '/v1/s', cursor: 'a-50' };
    b.frame(required);
    b.frame(event(51, 1, 'a-51'));
    b.in({ on: 'snapshot', match: 'm', snapshot: snapshot('a-48') });
    expect(b.sent.at(-1)).toEqual({ op: 'subscribe', match_id: 'm', since_event_id: 'a-48' });
    b.frame(event(51, 1, 'a-51'));
    b.frame({ type: 'subscribed', match_id: 'm', cursor: 'a-48' });
    for (const n of [49, 50, 51]) b.frame(event(n, 1, `a-${n}`));
    expect(b.events).toEqual(['49.1', '50.1', '51.1']);
    // If that is too far back as well, the snapshot is taken as it is.
    b.frame({ type: 'live', match_id: 'm' });
    const sent = b.sent.length;
    b.frame(required);
    b.in({ on: 'snapshot', match: 'm', snapshot: snapshot('a-48') });
    expect(b.sent.length).toBe(sent);
  });

  test('without a snapshot, events are told in the end', () => {
    const b = new Bench();
    b.live('m', 'a-5');
    b.frame({ type: 'snapshot_required', match_id: 'm', cursor: 'a-50' });
    b.frame(event(51, 1, 'a-51'));
    for (let n = 0; n < limits.SNAPSHOT_TRIES; n += 1) {
      expect(b.events).toEqual([]);
      b.in({ on: 'snapshot', match: 'm', snapshot: null });
      b.pass();
    }
    expect(b.events).toEqual(['51.1']);
  });
});

describe('a paused feed', () => {
  test('is told as reconnecting, with a snapshot from time to time, until it goes on', () => {
    const b = new Bench();
    b.live();
    const paused = {
      type: 'feed_paused',
      match_id: 'm',
      reason: 'shard_lost',
      snapshot_url: '/v1/s',
      retry_after_seconds: 5,
    };
    b.frame(paused);
    expect(b.told.at(-1)).toEqual({ type: 'state', match: 'm', state: 'reconnecting', detail: 'shard_lost' });
    expect(b.core.wakeAt).toBeGreaterThanOrEqual(b.now + 5_000);
    expect(b.pass()).toContainEqual({ do: 'snapshot', match: 'm', url: '/v1/s' });
    b.in({ on: 'snapshot', match: 'm', snapshot: null });
    expect(b.core.wakeAt).not.toBeNull();
    b.frame({ type: 'feed_resumed', match_id: 'm' });
    expect(b.states.at(-1)).toBe('live');
    expect(b.core.wakeAt).toBe(b.now + limits.SILENT_MS);
  });
});

describe('connections', () => {
  /** The wait before the next connection, ms. */
  const wait = (b: Bench): number => (b.core.wakeAt ?? Number.NaN) - b.now;

  test('are tried again with decorrelated jitter, and from the base after a good minute', () => {
    const b = new Bench(() => 1);
    b.live();
    const waits: number[] = [];
    for (let n = 0; n < 6; n += 1) {
      b.in(closed(1006));
      waits.push(wait(b));
      b.pass();
      b.in({ on: 'opened' });
    }
    expect(waits).toEqual([3_000, 9_000, 27_000, 30_000, 30_000, 30_000]);
    b.now += limits.GOOD_MS;
    b.in(closed(1006));
    expect(wait(b)).toBe(3_000);
  });

  test('a crowd does not come back in lockstep', () => {
    let seed = 7;
    const random = (): number => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed / 2_147_483_647;
    };
    const waits = Array.from({ length: 1_000 }, () => {
      const b = new Bench(random);
      b.live();
      b.in(closed(1001));
      return wait(b);
    });
    const buckets = new Array<number>(20).fill(0);
    for (const ms of waits)
      buckets[Math.floor((ms - 1_000) / 100)] = (buckets[Math.floor((ms - 1_000) / 100)] ?? 0) + 1;
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(1_000);
    expect(Math.max(...waits)).toBeLessThanOrEqual(3_000);
    expect(Math.max(...buckets)).toBeLessThan(100);
  });

  test('wait as long as the server asks', () => {
    const b = new Bench();
    b.live();
    b.in(closed(1006, { status: 503, retryAfterMs: 12_000 }));
    expect(wait(b)).toBe(12_000);
  });

  test('4000 resumes from the cursor', () => {
    const b = new Bench();
    b.live();
    b.frame(event(1, 1, 'a-1'));
    b.in(closed(4000));
    b.pass();
    b.in({ on: 'opened' });
    expect(b.sent.at(-1)).toEqual({ op: 'subscribe', match_id: 'm', since_event_id: 'a-1' });
    expect(b.states).toEqual(['connecting', 'replaying', 'live', 'reconnecting']);
  });

  test('4001 gets a new token first', () => {
    const b = new Bench();
    b.live();
    b.now += limits.TOKEN_HELD_MS;
    expect(b.in(closed(4001))).toContainEqual({ do: 'token', fresh: true });
    const effects = b.in({ on: 'token', token: 'second' });
    expect(effects).toContainEqual(expect.objectContaining({ do: 'connect', token: 'second' }));
    // A token that is refused at once is not hurried after.
    b.in({ on: 'opened' });
    expect(b.in(closed(4001)).map((e) => e.do)).not.toContain('token');
    expect(wait(b)).toBeGreaterThanOrEqual(1_000);
    expect(b.pass()).toContainEqual({ do: 'token', fresh: false });
  });

  test('a code that means nothing here resumes', () => {
    for (const code of [1001, 4002, 4003, 4999]) {
      const b = new Bench();
      b.live();
      b.frame(event(1, 1, 'a-1'));
      b.in(closed(code));
      expect(b.states.at(-1)).toBe('reconnecting');
      b.pass();
      b.in({ on: 'opened' });
      expect(b.sent.at(-1)).toEqual({ op: 'subscribe', match_id: 'm', since_event_id: 'a-1' });
    }
  });

  test('403 is not argued with', () => {
    const b = new Bench();
    b.live();
    b.in(closed(1006, { status: 403 }));
    expect(b.states.at(-1)).toBe('refused');
    expect(b.core.wakeAt).toBeNull();
  });

  test('a token is renewed on the way, and asked for again when there is none', () => {
    const b = new Bench();
    b.live();
    expect(b.frame({ type: 'token_expiring', in_seconds: 60 })).toEqual([{ do: 'token', fresh: true }]);
    b.in({ on: 'token', token: null });
    expect(b.pass()).toEqual([{ do: 'token', fresh: true }]);
    b.in({ on: 'token', token: 'second' });
    expect(b.sent.at(-1)).toEqual({ op: 'token', token: 'second' });
  });

  test('a socket that does not get through gives way to SSE, then to long-polls, and is tried again', () => {
    const b = new Bench();
    b.in({ on: 'subscribe', match: 'm', since: 'a-1' });
    b.in({ on: 'token', token: '' });
    const seen: string[] = [];
    for (let n = 0; n < 6; n += 1) {
      seen.push(b.core.transport);
      b.in(closed(1006));
      b.pass();
    }
    expect(seen).toEqual(['ws', 'ws', 'sse', 'sse', 'poll', 'poll']);
    expect(b.core.transport).toBe('ws');
    // One that opens and is cut before a frame does not get through either.
    for (let n = 0; n < 2; n += 1) {
      b.in({ on: 'opened' });
      b.in(closed(1006));
      b.pass();
    }
    expect(b.core.transport).toBe('sse');
    b.in({ on: 'opened' });
    b.frame({ type: 'subscribed', match_id: 'm', cursor: 'a-1' });
    b.now += limits.SOCKET_AGAIN_MS + 1;
    b.in(closed(1006));
    expect(b.core.transport).toBe('ws');
  });

  test('a busy server is not taken for a closed way', () => {
    const b = new Bench();
    b.in({ on: 'subscribe', match: 'm', since: null });
    b.in({ on: 'token', token: '' });
    b.in(closed(1006));
    b.pass();
    b.in(closed(1006));
    b.pass();
    expect(b.core.transport).toBe('sse');
    b.in(closed(1006, { status: 503, retryAfterMs: 5_000 }));
    expect(b.core.transport).toBe('ws');
  });

  test('one that falls silent is asked something, and given up when it does not answer', () => {
    const b = new Bench();
    b.live();
    b.frame(event(1, 1, 'a-1'));
    b.now += limits.SILENT_MS;
    const ask = { op: 'subscribe', match_id: 'm', since_event_id: 'a-1' };
    expect(b.in({ on: 'timer' })).toEqual([{ do: 'send', text: JSON.stringify(ask) }]);
    b.frame({ type: 'subscribed', match_id: 'm', cursor: 'a-1' });
    b.frame({ type: 'live', match_id: 'm' });
    b.now += limits.SILENT_MS;
    b.in({ on: 'timer' });
    b.now += limits.PROBE_MS;
    expect(b.in({ on: 'timer' }).map((e) => e.do)).toEqual(['disconnect', 'tell']);
    expect(b.core.phase).toBe('waiting');
  });

  test('events over HTTP have a pulse, and are given up without it', () => {
    const b = new Bench();
    b.in({ on: 'subscribe', match: 'm', since: 'a-1' });
    b.in({ on: 'token', token: '' });
    for (let n = 0; n < 2; n += 1) {
      b.in(closed(1006));
      b.pass();
    }
    b.in({ on: 'opened' });
    expect(b.core.wakeAt).toBeNull();
    b.in({ on: 'heartbeat' });
    b.now += limits.SILENT_MS;
    expect(b.in({ on: 'timer' }).map((e) => e.do)).toEqual(['disconnect']);
  });

  test('long-polls follow each other, and name where they are', () => {
    const b = new Bench();
    b.in({ on: 'subscribe', match: 'm', since: null });
    b.in({ on: 'token', token: '' });
    for (let n = 0; n < 4; n += 1) {
      b.in(closed(1006));
      b.pass();
    }
    expect(b.core.transport).toBe('poll');
    b.now += 20_000;
    b.in({ on: 'polled', events: [], lastEventId: 'm:a-3' });
    expect(b.states.at(-1)).toBe('live');
    const next = b.pass().find((e) => e.do === 'connect');
    expect(next).toMatchObject({ transport: 'poll', wanted: [{ match: 'm', since: 'a-3' }] });
    b.in({ on: 'polled', events: [event(4, 1, 'a-4'), 'rubbish'], lastEventId: 'm:a-4' });
    expect(b.events).toEqual(['4.1']);
  });
});

/**
 * A log, and a server that serves it badly: it cuts connections, repeats what it sent, starts the replay earlier
 * than asked, forgets its history, changes its log.
 */
function play(seed: number): void {
  const random = numbers(seed);
  const b = new Bench(random);
  const pick = (n: number): number => Math.floor(random() * n);
  let epoch = 10;
  let log: { id: number; revision: number }[] = [];
  const newest = new Map<number, number>();
  let sent = 0;
  const cursor = (n: number): string => `${epoch.toString(16)}-${n}`;
  const send = (n: number): void => {
    const entry = log[n - 1];
    if (entry) b.frame(event(entry.id, entry.revision, cursor(n)));
  };
  const append = (): void => {
    const known = [...newest.keys()];
    const old = known[pick(known.length)];
    const id = old !== undefined && random() < 0.3 ? old : newest.size + 1;
    const revision = (newest.get(id) ?? 0) + 1;
    newest.set(id, revision);
    log.push({ id, revision });
  };
  const accept = (): void => {
    b.in({ on: 'opened' });
    const asked = /^([0-9a-f]+)-(\d+)$/.exec(b.core.cursor('m') ?? '');
    const from = asked && asked[1] === epoch.toString(16) ? Number(asked[2]) : null;
    if (from === null || (random() < 0.1 && from < log.length)) {
      b.frame({ type: 'subscribed', match_id: 'm', cursor: b.core.cursor('m') ?? cursor(log.length) });
      if (asked)
        b.frame({ type: 'snapshot_required', match_id: 'm', snapshot_url: '/s', cursor: cursor(log.length) });
      sent = log.length;
    } else {
      b.frame({ type: 'subscribed', match_id: 'm', cursor: cursor(from) });
      sent = Math.max(0, from - (random() < 0.3 ? pick(3) : 0));
    }
  };
  const answerSnapshots = (effects: Effect[]): void => {
    if (!effects.some((e) => e.do === 'snapshot')) return;
    b.in({ on: 'snapshot', match: 'm', snapshot: random() < 0.2 ? null : snapshot(cursor(log.length)) });
  };
  b.in({ on: 'subscribe', match: 'm', since: cursor(0) });
  b.in({ on: 'token', token: '' });
  accept();
  for (let step = 0; step < 300; step += 1) {
    if (random() < 0.5) append();
    const before = b.all.length;
    if (b.core.phase === 'open') {
      while (sent < log.length && random() < 0.8) {
        sent += 1;
        send(sent);
        if (random() < 0.1) send(1 + pick(sent));
        if (random() < 0.05) b.in({ on: 'frame', text: '{"type":"score_event","match_id":"m"' });
      }
      if (random() < 0.1) b.in(closed(random() < 0.5 ? 4000 : 1006));
    } else {
      b.pass();
      if (b.core.phase === 'connecting') accept();
    }
    if (random() < 0.01) {
      epoch += 1;
      log = [];
      newest.clear();
      sent = 0;
      b.in(closed(1006));
    }
    answerSnapshots(b.all.slice(before));
  }
  for (let n = 0; n < 50 && (b.core.phase !== 'open' || sent < log.length); n += 1) {
    const before = b.all.length;
    if (b.core.phase === 'open') {
      sent += 1;
      send(sent);
    } else {
      b.pass();
      if (b.core.phase === 'connecting') accept();
    }
    answerSnapshots(b.all.slice(before));
  }
  // Between resets: each (event, revision) once, and never backwards.
  let seen = new Map<number, number>();
  for (const update of b.told) {
    if (update.type === 'reset') seen = new Map();
    if (update.type !== 'event') continue;
    const { event_id, revision } = update.event;
    if (revision <= (seen.get(event_id) ?? 0)) throw new Error(`event ${event_id} again, seed ${seed}`);
    seen.set(event_id, revision);
  }
  // What was told since the last reset, and the snapshot below it, are the log.
  const last = b.told.findLastIndex((u) => u.type === 'reset');
  const below = b.told.slice(last + 1).findLast((u) => u.type === 'snapshot');
  const from = below?.type === 'snapshot' ? Number(below.snapshot.as_of_event_id.split('-')[1]) : 0;
  if (last >= 0 && !below) return;
  const expected = new Map<number, number>();
  for (const { id, revision } of log.slice(from)) expected.set(id, revision);
  const missing = [...expected].filter(([id, revision]) => seen.get(id) !== revision);
  expect(missing, `seed ${seed}`).toEqual([]);
}

test('whatever is dropped, repeated or cut, every happening is told once and in its last revision', {
  timeout: LIMIT_MS,
}, () => {
  for (let seed = 1; seed <= 300; seed += 1) play(seed);
});
