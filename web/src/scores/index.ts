/**
 * Pavilion's client for live scores: one socket, any number of matches, every happening once and in the order of its
 * log, corrections included. Has no dependencies and touches no DOM. See docs/client.md.
 */

export { type Listener, type Options, ScoresClient } from './client';
export type { State, Update } from './core';
export { Hold, type HoldView, type Pending } from './hold';
export { type CursorStore, LocalStore, MemoryStore } from './store';
export type { Body, Headline, Moment, ScoreEvent, Snapshot } from './wire';
