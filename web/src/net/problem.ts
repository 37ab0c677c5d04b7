/** A refusal, as the server words it: a problem document (RFC 9457). */

export interface Problem {
  /** The last segment of its type; empty: the status says it all. */
  readonly kind: string;
  /** A sentence, in English. */
  readonly detail: string;
  /** All of it. */
  readonly members: Readonly<Record<string, unknown>>;
}

/** Null when it is none. */
export async function readProblem(response: Response): Promise<Problem | null> {
  if (!response.headers.get('content-type')?.includes('json')) return null;
  try {
    const body: unknown = await response.json();
    return typeof body === 'object' && body !== null ? asProblem(body as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

export function asProblem(members: Record<string, unknown>): Problem {
  const words = members.detail ?? members.title;
  const kind = /\/problems\/([a-z-]+)$/.exec(String(members.type ?? ''))?.[1] ?? '';
  return { kind, detail: typeof words === 'string' ? words : '', members };
}
