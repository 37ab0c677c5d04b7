/** The door's admin API (docs/door.md), as the console's pages need it. What comes is checked here and nowhere else. */

import { array, count, numberOrNull, object, text, word } from '../../net/narrow';
import { request, requestJson } from '../../net/request';
import { operatorHeader } from './operator';

/** In the order in which one makes them: each names those before it. */
export const KINDS = ['language', 'plan', 'match', 'programme', 'blackout', 'product', 'right'] as const;
export type Kind = (typeof KINDS)[number];

/** As it stands at the door, which alone knows what it may say. */
export type Document = Readonly<Record<string, unknown>>;

export interface Imported {
  readonly put: number;
  readonly removed: number;
}

export interface Change {
  readonly id: string;
  readonly atMs: number;
  readonly who: string;
  /** `catalog/match/final`, `lever/panic`, `purchase/…`. */
  readonly what: string;
  /** JSON; null: there was none. */
  readonly before: unknown;
  readonly after: unknown;
}

export interface Match {
  readonly id: string;
  readonly title: string;
  readonly status: string;
  readonly startMs: number;
}

/** Where and when matches may be shown. */
export interface Right {
  readonly id: string;
  readonly matches: readonly string[];
  /** Null: everywhere. */
  readonly countries: readonly string[] | null;
  readonly fromMs: number | null;
  readonly untilMs: number | null;
}

export interface Blackout {
  readonly id: string;
  readonly name: string;
  readonly matches: readonly string[];
  readonly areas: readonly Area[];
  readonly fromMs: number | null;
  readonly untilMs: number | null;
}

export interface Area {
  readonly country: string;
  readonly subdivisions: readonly string[];
  readonly cities: readonly number[];
  readonly postcodes: readonly string[];
  /** Corners of an outline. */
  readonly corners: number;
}

export interface Product {
  readonly id: string;
  readonly name: string;
  readonly plan: string;
}

export interface Purchase {
  readonly id: string;
  readonly account: string;
  readonly product: string;
  readonly fromMs: number;
  readonly untilMs: number;
}

export const POSITIVES = ['auto', 'on', 'off'] as const;
export type Positive = (typeof POSITIVES)[number];

export interface Lever {
  readonly positive: Positive;
  readonly negative: boolean;
  readonly note: string;
}

export interface Panic {
  readonly lever: Lever & { readonly by: string; readonly atMs: number };
  /** There is one, found out or set. */
  readonly panic: boolean;
  /** Who cannot be checked is let in. */
  readonly letsIn: boolean;
  readonly storeBadSinceMs: number | null;
  /** Let in here, and not settled yet. */
  readonly pending: number;
  /** How crowded the door is, 0 to 1. */
  readonly pressure: number;
}

export interface Report {
  readonly sinceMs: number;
  readonly issued: number;
  readonly entitled: number;
  readonly notEntitled: number;
  readonly unverified: number;
  readonly pending: number;
  /** The newest of them. */
  readonly passes: readonly Pass[];
}

export const VERDICTS = ['entitled', 'not_entitled', 'unverified'] as const;
export type Verdict = (typeof VERDICTS)[number];

export interface Pass {
  readonly session: string;
  readonly account: string | null;
  readonly device: string;
  readonly match: string;
  readonly issuedMs: number;
  /** Null: not settled yet. */
  readonly verdict: Verdict | null;
}

export interface Advice {
  readonly backOff: { readonly baseMs: number; readonly capMs: number; readonly perMinute: number };
  readonly refreshS: Readonly<Record<string, number>>;
  readonly off: readonly string[];
}

const AT = '/admin/arrival';
/** Pages ask again by themselves, so that nothing here does. */
const ONCE = { retries: 0 } as const;
/** Provisional passes that are listed: some screens. */
const PASSES = 50;

function get<T>(path: string, read: (body: unknown) => T, signal: AbortSignal): Promise<T> {
  return requestJson(`${AT}${path}`, read, { ...ONCE, signal });
}

function send<T>(
  method: 'PUT' | 'POST',
  path: string,
  body: unknown,
  read: (body: unknown) => T,
  signal: AbortSignal,
): Promise<T> {
  return requestJson(`${AT}${path}`, read, { ...ONCE, method, body, signal, headers: operatorHeader() });
}

const place = (kind: Kind, id: string): string => `/catalog/${kind}/${encodeURIComponent(id)}`;

/** Where the whole catalog is, as a file. */
export const FILE = `${AT}/catalog`;

export function documents(kind: Kind, signal: AbortSignal): Promise<readonly Document[]> {
  return get(`/catalog/${kind}`, (body) => array(body).map(object), signal);
}

export function putDocument(
  kind: Kind,
  id: string,
  document: Document,
  signal: AbortSignal,
): Promise<Document> {
  return send('PUT', place(kind, id), document, object, signal);
}

export async function deleteDocument(kind: Kind, id: string, signal: AbortSignal): Promise<void> {
  const options = { ...ONCE, method: 'DELETE', signal, headers: operatorHeader() } as const;
  await request(`${AT}${place(kind, id)}`, options);
}

/** `replace`: takes away what the file does not have. `dry`: only says what would be done. */
export function importFile(
  file: unknown,
  how: { readonly replace: boolean; readonly dry: boolean },
  signal: AbortSignal,
): Promise<Imported> {
  const read = (body: unknown): Imported => {
    const o = object(body);
    return { put: count(o, 'put'), removed: count(o, 'removed') };
  };
  return send('PUT', `/catalog?replace=${how.replace}&dry=${how.dry}`, file, read, signal);
}

export function history(max: number, signal: AbortSignal): Promise<readonly Change[]> {
  return get(`/history?max=${max}`, readHistory, signal);
}

export function matches(signal: AbortSignal): Promise<readonly Match[]> {
  return get('/catalog/match', (body) => array(body).map(readMatch), signal);
}

export function rights(signal: AbortSignal): Promise<readonly Right[]> {
  return get('/catalog/right', (body) => array(body).map(readRight), signal);
}

export function blackouts(signal: AbortSignal): Promise<readonly Blackout[]> {
  return get('/catalog/blackout', (body) => array(body).map(readBlackout), signal);
}

export function products(signal: AbortSignal): Promise<readonly Product[]> {
  const read = (one: unknown): Product => {
    const o = object(one);
    return { id: text(o, 'id'), name: text(o, 'name'), plan: text(o, 'plan') };
  };
  return get('/catalog/product', (body) => array(body).map(read), signal);
}

/** What an account has and is not over. */
export function purchases(account: string, signal: AbortSignal): Promise<readonly Purchase[]> {
  return get(`/purchases?account=${encodeURIComponent(account)}`, readPurchases, signal);
}

/** Without an id one is made; the same id again replaces it. */
export function putPurchase(
  purchase: Omit<Purchase, 'id'> & { readonly id?: string },
  signal: AbortSignal,
): Promise<readonly Purchase[]> {
  const { id, account, product, fromMs, untilMs } = purchase;
  const body = { ...(id === undefined ? {} : { id }), account, product, from_ms: fromMs, until_ms: untilMs };
  return send('POST', '/purchases', body, readPurchases, signal);
}

export function panic(signal: AbortSignal): Promise<Panic> {
  return get('/panic', readPanic, signal);
}

export function setLever({ positive, negative, note }: Lever, signal: AbortSignal): Promise<Panic> {
  return send('PUT', '/panic', { positive, negative, note }, readPanic, signal);
}

/** Of the last day. */
export function report(signal: AbortSignal): Promise<Report> {
  return get(`/provisional?max=${PASSES}`, readReport, signal);
}

export function advice(signal: AbortSignal): Promise<Advice> {
  return get('/advice', readAdvice, signal);
}

export function setAdvice({ backOff, refreshS, off }: Advice, signal: AbortSignal): Promise<Advice> {
  const { baseMs, capMs, perMinute } = backOff;
  const body = {
    back_off: { base_ms: baseMs, cap_ms: capMs, per_minute: perMinute },
    refresh_s: refreshS,
    off,
  };
  return send('PUT', '/advice', body, readAdvice, signal);
}

export function readHistory(body: unknown): readonly Change[] {
  return array(body).map((one) => {
    const o = object(one);
    return {
      id: text(o, 'id'),
      atMs: count(o, 'at_ms'),
      who: text(o, 'who'),
      what: text(o, 'what'),
      before: o.before ?? null,
      after: o.after ?? null,
    };
  });
}

function readMatch(body: unknown): Match {
  const o = object(body);
  return {
    id: text(o, 'id'),
    title: text(o, 'title'),
    status: text(o, 'status'),
    startMs: count(o, 'start_ms'),
  };
}

export function readRight(body: unknown): Right {
  const o = object(body);
  return {
    id: text(o, 'id'),
    matches: words(o.matches),
    countries: o.countries === undefined || o.countries === null ? null : words(o.countries),
    fromMs: numberOrNull(o, 'from_ms'),
    untilMs: numberOrNull(o, 'until_ms'),
  };
}

export function readBlackout(body: unknown): Blackout {
  const o = object(body);
  return {
    id: text(o, 'id'),
    name: text(o, 'name'),
    matches: words(o.matches),
    areas: array(o.areas).map(readArea),
    fromMs: numberOrNull(o, 'from_ms'),
    untilMs: numberOrNull(o, 'until_ms'),
  };
}

function readArea(body: unknown): Area {
  const o = object(body);
  const cities = array(o.cities ?? []).map((city) => {
    if (typeof city !== 'number') throw new TypeError('a city is a number');
    return city;
  });
  return {
    country: text(o, 'country'),
    subdivisions: words(o.subdivisions ?? []),
    cities,
    postcodes: words(o.postcodes ?? []),
    corners: array(o.polygon ?? []).length,
  };
}

function words(value: unknown): readonly string[] {
  return array(value).map((one) => {
    if (typeof one !== 'string') throw new TypeError('not a list of texts');
    return one;
  });
}

function readPurchases(body: unknown): readonly Purchase[] {
  return array(body).map((one) => {
    const o = object(one);
    return {
      id: text(o, 'id'),
      account: text(o, 'account'),
      product: text(o, 'product'),
      fromMs: count(o, 'from_ms'),
      untilMs: count(o, 'until_ms'),
    };
  });
}

export function readPanic(body: unknown): Panic {
  const o = object(body);
  const lever = object(o.lever);
  return {
    lever: {
      positive: word(lever, 'positive', POSITIVES),
      negative: lever.negative === true,
      note: text(lever, 'note'),
      by: text(lever, 'by'),
      atMs: count(lever, 'at_ms'),
    },
    panic: o.panic === true,
    letsIn: o.lets_in === true,
    storeBadSinceMs: numberOrNull(o, 'store_bad_since_ms'),
    pending: count(o, 'pending'),
    pressure: count(o, 'pressure'),
  };
}

export function readReport(body: unknown): Report {
  const o = object(body);
  const pass = (one: unknown): Pass => {
    const p = object(one);
    return {
      session: text(p, 'session'),
      account: p.account === null ? null : text(p, 'account'),
      device: text(p, 'device'),
      match: text(p, 'match'),
      issuedMs: count(p, 'issued_ms'),
      verdict: p.verdict === null ? null : word(p, 'verdict', VERDICTS),
    };
  };
  return {
    sinceMs: count(o, 'since_ms'),
    issued: count(o, 'issued'),
    entitled: count(o, 'entitled'),
    notEntitled: count(o, 'not_entitled'),
    unverified: count(o, 'unverified'),
    pending: count(o, 'pending_here'),
    passes: array(o.passes).map(pass),
  };
}

export function readAdvice(body: unknown): Advice {
  const o = object(body);
  const backOff = object(o.back_off);
  const refresh = object(o.refresh_s);
  return {
    backOff: {
      baseMs: count(backOff, 'base_ms'),
      capMs: count(backOff, 'cap_ms'),
      perMinute: count(backOff, 'per_minute'),
    },
    refreshS: Object.fromEntries(Object.keys(refresh).map((what) => [what, count(refresh, what)])),
    off: words(o.off),
  };
}
