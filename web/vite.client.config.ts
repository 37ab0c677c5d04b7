import { defineConfig } from 'vite';

// The scores client as one ES module that others load: `/scores.js`. After the page, into the same folder.
export default defineConfig({
  build: {
    target: 'es2022',
    outDir: 'dist',
    emptyOutDir: false,
    lib: { entry: 'src/scores/index.ts', formats: ['es'], fileName: () => 'scores.js' },
  },
});
