/** How a connection ended. Pure. */

/** Close codes of the stream (private use, RFC 6455, 7.4.2), and our own for a connection that fell silent. */
export const SLOW = 4000;
export const TOKEN = 4001;
export const BAD_FRAME = 4004;
export const AWAY = 1001;

/** In words, for `detail`. */
export function why(code: number, status: number | null): string {
  if (status !== null) return `status ${status}`;
  switch (code) {
    case SLOW:
      return 'too slow to read';
    case TOKEN:
      return 'token expired';
    case AWAY:
      return 'server is leaving';
    default:
      return `connection lost (${code})`;
  }
}
