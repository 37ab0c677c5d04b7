/** What the tests use of Node.js; its types are not installed for four functions. */

declare module 'node:fs' {
  export function existsSync(path: string): boolean;
  export function readFileSync(path: string | URL, encoding: 'utf8'): string;
}

declare module 'node:path' {
  export function join(...parts: string[]): string;
}

declare module 'node:url' {
  export function fileURLToPath(url: URL): string;
}

declare const process: {
  readonly env: Record<string, string | undefined>;
  readonly stderr: { write(text: string): void };
};
