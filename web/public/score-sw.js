// The scorer's page without a network: a phone that drops the page in the middle of an over gets it again. What is
// kept is put there by the page itself (web/src/scorer/offline.ts); here it is only given out.

const KEPT = 'pavilion-scorer';

/** A network that does not give the page by then is none, ms. */
const PATIENCE_MS = 3_000;

self.addEventListener('install', () => self.skipWaiting());
self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()));

self.addEventListener('fetch', (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (request.method !== 'GET' || url.origin !== location.origin) return;
  // Names under assets/ carry a hash of their content: what is kept is right.
  if (url.pathname.startsWith('/assets/'))
    event.respondWith(kept(request).then((had) => had ?? fetch(request)));
  else if (request.mode === 'navigate') event.respondWith(page(request));
});

const kept = (request) => caches.match(request, { cacheName: KEPT, ignoreSearch: true });

/** The newest page if there is network, or else the one that is kept. */
async function page(request) {
  try {
    const answer = await fetch(request, { signal: AbortSignal.timeout(PATIENCE_MS) });
    if (answer.ok) return answer;
    return (await kept(request)) ?? answer;
  } catch (error) {
    const had = await kept(request);
    if (had) return had;
    throw error;
  }
}
