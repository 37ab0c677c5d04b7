/** Server-sent events out of a byte stream (WHATWG HTML, 9.2.6), so that `fetch` can carry them. Pure. */

export interface Sent {
  readonly data: string;
  /** The last id seen, this event's or an earlier one's. */
  readonly id: string;
}

/** An event is some hundred bytes; a line that never ends is not one. */
const LINE_MAX = 256 * 1024;

export class SseReader {
  #rest = '';
  #data: string[] = [];
  #id = '';
  /** What the server asked for with `retry:`, ms. */
  retryMs: number | null = null;
  /** Comments seen: they say that the stream is alive. */
  comments = 0;

  /** Takes a piece of text, wherever it was cut, and gives the events that it completes. */
  push(text: string): Sent[] {
    this.#rest += text;
    const out: Sent[] = [];
    for (;;) {
      const end = /\r\n|\n|\r(?!$)/.exec(this.#rest);
      if (!end) break;
      const line = this.#rest.slice(0, end.index);
      this.#rest = this.#rest.slice(end.index + end[0].length);
      const sent = this.#line(line);
      if (sent) out.push(sent);
    }
    if (this.#rest.length > LINE_MAX) this.#rest = '';
    return out;
  }

  #line(line: string): Sent | null {
    if (line === '') {
      const data = this.#data.join('\n');
      const some = this.#data.length > 0;
      this.#data = [];
      return some ? { data, id: this.#id } : null;
    }
    const colon = line.indexOf(':');
    if (colon === 0) {
      this.comments += 1;
      return null;
    }
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (name === 'data') this.#data.push(value);
    else if (name === 'id' && !value.includes('\0')) this.#id = value;
    else if (name === 'retry' && /^\d{1,7}$/.test(value)) this.retryMs = Number(value);
    return null;
  }
}
