/** The players: each is a chunk of its own, fetched when it is chosen. */

import type { Adapter, AdapterEvents, PlayerName } from './adapter';

export type Factory = (video: HTMLVideoElement, captions: HTMLElement, events: AdapterEvents) => Adapter;

export async function factory(name: PlayerName): Promise<Factory> {
  if (name === 'shaka') {
    const { ShakaAdapter } = await import('../adapters/shaka');
    return (video, captions, events) => new ShakaAdapter(video, captions, events);
  }
  const { HlsAdapter } = await import('../adapters/hls');
  return (video, _, events) => new HlsAdapter(video, events);
}
