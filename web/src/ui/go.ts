/** To another view of the page. */

export function go(path: string): void {
  history.pushState(null, '', path);
  dispatchEvent(new PopStateEvent('popstate'));
  document.querySelector<HTMLElement>('h1')?.focus();
}

/** A path of ours to go to, from an address that anybody may have made. `//x` and `/\x` are other hosts. */
export function ourPath(path: string | null): string | null {
  return path !== null && /^\/(?![/\\])[\x21-\x7e]*$/.test(path) ? path : null;
}
