import { expect, test } from 'vitest';
import { read } from '../src/play/settings';

test('the address overrides what was stored, and that the defaults', () => {
  const stored = JSON.stringify({ player: 'shaka', profile: 'steady', language: 'hi', volume: 0.4 });
  expect(read(null, '')).toMatchObject({ player: 'hls', profile: 'balanced', language: null, volume: 1 });
  expect(read(stored, '')).toMatchObject({ player: 'shaka', profile: 'steady', language: 'hi', volume: 0.4 });
  expect(read(stored, '?player=hls&profile=live')).toMatchObject({
    player: 'hls',
    profile: 'live',
    language: 'hi',
  });
});

test('nonsense is the default', () => {
  for (const stored of ['', '{', 'null', '7', '{"player":"vlc","profile":1,"volume":7,"captions":"yes"}']) {
    expect(read(stored, '?profile=fast')).toMatchObject({
      player: 'hls',
      profile: 'balanced',
      volume: 1,
      captions: false,
    });
  }
});
