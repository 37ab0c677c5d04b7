import { defineConfig } from 'vite';

// The operators' console: a page of its own in a folder of its own, which only `pavilion console` serves.
export default defineConfig({
  base: '/',
  publicDir: false,
  build: {
    target: 'es2022',
    outDir: 'dist-console',
    assetsDir: 'assets',
    modulePreload: { polyfill: false },
    rolldownOptions: { input: 'console.html' },
  },
  server: {
    proxy: { '/admin': 'http://127.0.0.1:8089' },
  },
});
