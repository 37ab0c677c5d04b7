import { describe, expect, test } from 'vitest';
import { type Base, Hold } from '../src/scores/hold';
import type { Headline, ScoreEvent } from '../src/scores/wire';
import { event, LIMIT_MS, numbers } from './support';

/** A happening's content: runs, or null for withdrawn. */
type Content = number | null;

/** A log as the server has it, and the score that it tells: an oracle that keeps no state but the log. */
class Ground {
  readonly log: (ScoreEvent & { readonly content: Content })[] = [];

  /** What is known after `upto` entries, with venue time up to `at` and place up to `place`. */
  headline(upto: number, at: number, place = Number.POSITIVE_INFINITY): Headline {
    const best = new Map<number, { revision: number; content: Content }>();
    for (const e of this.log.slice(0, upto)) {
      if (e.venue_ms > at || e.event_id > place) continue;
      if ((best.get(e.event_id)?.revision ?? 0) < e.revision) best.set(e.event_id, e);
    }
    const balls = [...best.values()].flatMap((b) => (b.content === null ? [] : [b.content]));
    const runs = balls.reduce((sum, n) => sum + n, 0);
    return { sport: 'cricket', text: `T ${runs} (${balls.length})`, balls: balls.length, runs };
  }

  append(id: number, revision: number, venue_ms: number, content: Content): void {
    const cursor = `a-${this.log.length + 1}`;
    const body = content === null ? { sport: 'withdrawn' } : { sport: 'cricket', kind: 'delivery' };
    const entry = { ...event(id, revision, cursor, { venue_ms, body }), content };
    this.log.push(entry);
    const score = this.headline(this.log.length, Number.POSITIVE_INFINITY, id);
    this.log[this.log.length - 1] = { ...entry, score };
  }

  base(at: number | null): Base<null> {
    const until = at ?? Number.POSITIVE_INFINITY;
    const first = this.log.findIndex((e) => e.venue_ms > until);
    return {
      at,
      cursor: `a-${first < 0 ? this.log.length : first}`,
      upto: `a-${this.log.length}`,
      score: this.headline(this.log.length, until),
      card: null,
    };
  }
}

/** Looks, and fetches what is needed until it is right. */
function settle(hold: Hold<null>, ground: Ground, at: number): ReturnType<Hold<null>['view']> {
  let view = hold.view(at);
  for (let n = 0; view.need && n < 4; n += 1) {
    const base = ground.base(view.need.at);
    const before = hold.wholeAfter;
    hold.setBase(base);
    if (base.at !== null && base.at < before) {
      // Subscribes again from there.
      hold.setFloor(base);
      for (const e of ground.log.slice(Number(base.cursor?.slice(2)))) hold.take(e);
    }
    view = hold.view(at);
  }
  if (view.need) throw new Error(`still needs ${JSON.stringify(view.need)}`);
  return view;
}

describe('a happening', () => {
  const ground = new Ground();
  for (let n = 1; n <= 5; n += 1) ground.append(n, 1, n * 1_000, 1);

  test('is shown when the picture reaches it, not a millisecond before', () => {
    const hold = new Hold<null>();
    hold.setBase(ground.base(0));
    for (const e of ground.log) hold.take(e);
    expect(hold.view(999).headline?.balls).toBe(0);
    expect(hold.view(999).due).toBe(1_000);
    expect(hold.view(1_000).headline?.balls).toBe(1);
    expect(hold.view(1_999).headline?.balls).toBe(1);
    expect(hold.view(4_000).headline?.balls).toBe(4);
    expect(hold.view(4_000).newest?.event_id).toBe(4);
    expect(hold.view(9_000).due).toBeNull();
  });

  test('that has not been seen is hidden again when the picture goes back', () => {
    const hold = new Hold<null>();
    hold.setBase(ground.base(0));
    for (const e of ground.log) hold.take(e);
    expect(hold.view(5_000).headline?.balls).toBe(5);
    expect(hold.view(2_500).headline?.balls).toBe(2);
    expect(hold.view(500).headline?.balls).toBe(0);
  });

  test('before all that is held is asked for, and nothing later is shown meanwhile', () => {
    const hold = new Hold<null>();
    hold.setBase(ground.base(4_000));
    const last = ground.log[4];
    if (last) hold.take(last);
    expect(hold.view(5_000).headline?.balls).toBe(5);
    const back = hold.view(2_700);
    expect(back.headline).toBeNull();
    expect(back.need).toEqual({ at: 2_000, since: null });
    expect(settle(hold, ground, 2_700).headline?.balls).toBe(2);
  });

  test('is shown at once without a picture', () => {
    const hold = new Hold<null>();
    hold.setBase({ ...ground.base(null), upto: 'a-4', score: ground.headline(4, 1e9) });
    expect(hold.view(Number.POSITIVE_INFINITY).headline?.balls).toBe(4);
    const last = ground.log[4];
    if (last) hold.take(last);
    expect(hold.view(Number.POSITIVE_INFINITY).headline?.balls).toBe(5);
  });

  test('is news once, when the picture passes it, and never after a jump', () => {
    const hold = new Hold<null>();
    hold.setBase(ground.base(0));
    for (const e of ground.log) hold.take(e);
    const news = (at: number): number[] => hold.view(at).news.map((e) => e.event_id);
    expect(news(900)).toEqual([]);
    expect(news(1_000)).toEqual([1]);
    expect(news(1_040)).toEqual([]);
    expect(news(3_100)).toEqual([2, 3]);
    expect(news(1_500)).toEqual([]);
    expect(news(1_540)).toEqual([]);
    expect(news(12_000)).toEqual([]);
  });
});

describe('a correction', () => {
  test('is shown from its own venue time on, with the score of the server', () => {
    const ground = new Ground();
    for (let n = 1; n <= 3; n += 1) ground.append(n, 1, n * 1_000, 4);
    ground.append(2, 2, 3_500, 6);
    const hold = new Hold<null>();
    hold.setBase({ ...ground.base(0), upto: 'a-0' });
    for (const e of ground.log) hold.take(e);
    expect(hold.view(3_400).headline?.runs).toBe(12);
    const view = hold.view(3_500);
    expect(view.news.map((e) => [e.event_id, e.revision])).toEqual([[2, 2]]);
    // The newest ball's own score does not count it: until the server's is there, what stood stays.
    expect(view.need).toEqual({ at: 3_500, since: 'a-4' });
    expect(view.headline?.runs).toBe(12);
    expect(settle(hold, ground, 3_500).headline?.runs).toBe(14);
  });

  test('stands while the picture steps back by less than a frame and on again, and nothing is asked for twice', () => {
    const ground = new Ground();
    for (let n = 1; n <= 3; n += 1) ground.append(n, 1, n * 1_000, 4);
    ground.append(2, 2, 3_500, 6);
    ground.append(1, 2, 3_600, 0);
    const hold = new Hold<null>();
    hold.setBase({ ...ground.base(0), upto: 'a-0' });
    for (const e of ground.log) hold.take(e);
    hold.view(3_400);
    hold.prepare(ground.base(3_500));
    for (const [at, runs] of [
      [3_500, 14],
      [3_499.8, 12],
      [3_501, 14],
    ] as const) {
      expect(hold.view(at)).toMatchObject({ need: null, headline: { runs } });
    }
    // Its base is not there yet: what stood stays, over steps back as well.
    for (const at of [3_600, 3_599.8, 3_601, 3_600.5]) expect(hold.view(at).headline?.runs).toBe(14);
    expect(settle(hold, ground, 3_601).headline?.runs).toBe(10);
    for (const [at, runs] of [
      [3_599.8, 14],
      [3_600, 10],
      [3_499.8, 12],
      [3_700, 10],
    ] as const) {
      expect(hold.view(at)).toMatchObject({ need: null, headline: { runs } });
    }
  });

  test('that came before a ball and is decided after it is not in the score too early', () => {
    const ground = new Ground();
    ground.append(1, 1, 1_000, 4);
    ground.append(1, 2, 5_000, 6);
    ground.append(2, 1, 2_000, 1);
    const hold = new Hold<null>();
    hold.setBase({ ...ground.base(0), upto: 'a-0' });
    for (const e of ground.log) hold.take(e);
    expect(settle(hold, ground, 2_000).headline?.runs).toBe(5);
    expect(settle(hold, ground, 5_000).headline?.runs).toBe(7);
  });

  test('of the last ball, withdrawn, takes it back', () => {
    const ground = new Ground();
    ground.append(1, 1, 1_000, 4);
    ground.append(2, 1, 2_000, 4);
    ground.append(2, 2, 3_000, null);
    const hold = new Hold<null>();
    hold.setBase({ ...ground.base(0), upto: 'a-0' });
    for (const e of ground.log) hold.take(e);
    expect(settle(hold, ground, 2_999).headline?.balls).toBe(2);
    expect(settle(hold, ground, 3_000).headline?.balls).toBe(1);
  });
});

test('key moments are those of what was seen, corrected', () => {
  const hold = new Hold<null>();
  const moment = (event_id: number, text: string, venue_ms = event_id * 1_000): object => ({
    moment: { event_id, venue_ms, seek_ms: venue_ms, kind: 'wicket', text },
  });
  hold.setBase({ at: 0, cursor: 'a-0', upto: 'a-0', score: null, card: null });
  hold.takeMoments([{ event_id: 9, venue_ms: 9_000, seek_ms: 9_000, kind: 'six', text: 'later' }]);
  hold.take(event(1, 1, 'a-1', moment(1, 'one')));
  hold.take(event(2, 1, 'a-2', moment(2, 'two')));
  hold.take(event(1, 2, 'a-3', { venue_ms: 2_500, moment: null }));
  const seen = (at: number): string[] => {
    hold.view(at);
    return hold.moments().map((m) => m.text);
  };
  expect(seen(1_500)).toEqual(['one']);
  expect(seen(2_000)).toEqual(['one', 'two']);
  expect(seen(2_600)).toEqual(['two']);
  // What was seen stays known when the picture goes back.
  expect(seen(100)).toEqual(['two']);
  expect(seen(9_000)).toEqual(['two', 'later']);
});

test('whatever comes late, is corrected or withdrawn, and wherever the picture goes, the score is the one of that moment', {
  timeout: LIMIT_MS,
}, () => {
  for (let seed = 1; seed <= 250; seed += 1) {
    const random = numbers(seed);
    const pick = (n: number): number => Math.floor(random() * n);
    const ground = new Ground();
    const revisions = new Map<number, number>();
    let venue = 0;
    let ball = 0;
    const late: number[] = [];
    const happen = (): void => {
      venue += 1 + pick(3_000);
      if (random() < 0.15 && ball > 0) {
        const id = 1 + pick(ball);
        const revision = revisions.get(id) ?? 0;
        if (revision === 0) return;
        revisions.set(id, revision + 1);
        ground.append(id, revision + 1, venue, random() < 0.3 ? null : pick(7));
      } else if (random() < 0.1) {
        ball += 1;
        late.push(ball);
      } else if (random() < 0.3 && late.length > 0) {
        const id = late.shift() ?? 0;
        revisions.set(id, 1);
        ground.append(id, 1, venue - pick(2_000), pick(7));
      } else {
        ball += 1;
        revisions.set(ball, 1);
        ground.append(ball, 1, venue, pick(7));
      }
    };
    for (let n = pick(20); n > 0; n -= 1) happen();
    const hold = new Hold<null>();
    let picture = Math.max(0, venue - pick(8_000));
    let given = -1;
    for (let step = 0; step < 120; step += 1) {
      if (random() < 0.4) happen();
      // The stream, once there is one: from the cursor of the first base on.
      if (given >= 0)
        for (; given < ground.log.length; given += 1) hold.take(ground.log[given] as ScoreEvent);
      if (random() < 0.05) picture = pick(venue + 1);
      else picture = Math.min(venue, picture + pick(1_500));
      const view = settle(hold, ground, picture);
      if (given < 0) given = ground.log.length;
      const right = ground.headline(ground.log.length, picture);
      if (view.headline?.text === right.text) continue;
      expect(view.headline?.text, `seed ${seed}, step ${step}, picture ${picture}`).toBe(right.text);
    }
  }
});
