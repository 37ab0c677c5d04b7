/** Keeps this page on the phone, so that it can be opened without a network; public/score-sw.js gives it out. */

const KEPT = 'pavilion-scorer';

/** What browsers that cannot, or an address without TLS, do not have is gone without: then only the data is kept. */
export async function keepOffline(signal: AbortSignal): Promise<void> {
  if (!('serviceWorker' in navigator) || !('caches' in globalThis)) return;
  try {
    await navigator.serviceWorker.register('/score-sw.js', { scope: '/score/' });
    const files = [
      ...document.querySelectorAll<HTMLScriptElement | HTMLLinkElement>('script[src], link[href]'),
    ]
      .map((e) => ('src' in e ? e.src : e.href))
      .concat(performance.getEntriesByType('resource').map((e) => e.name))
      .filter((url) => url.startsWith(`${location.origin}/assets/`));
    if (signal.aborted) return;
    const cache = await caches.open(KEPT);
    const now = new Set([location.href, ...files]);
    await cache.addAll([...now]);
    // Those of an earlier build go.
    for (const { url } of await cache.keys()) {
      if (!now.has(url) && url.startsWith(`${location.origin}/assets/`)) await cache.delete(url);
    }
  } catch {
    // Without a network now: what was kept before stays.
  }
}
