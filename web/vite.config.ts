import { defineConfig } from 'vite';

// The players are dynamic imports, so each is a chunk of its own and a page that never plays loads neither.
// The limit is the larger player; the page itself is held to its budget by scripts/sizes.mjs.
export default defineConfig({
  base: '/',
  build: {
    target: 'es2022',
    outDir: 'dist',
    assetsDir: 'assets',
    chunkSizeWarningLimit: 700,
    modulePreload: { polyfill: false },
  },
  server: {
    proxy: { '/v1': 'http://127.0.0.1:8080' },
  },
});
