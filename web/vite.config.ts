import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  base: './',
  build: {
    target: 'es2023',
    outDir: 'dist',
    emptyOutDir: true,
    // Nothing is put into the page as a data address: the policy of the page allows it for images alone.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  // `npm run dev:web` beside a service on its usual port.
  server: { proxy: { '^/(openai|v1|health)': 'http://127.0.0.1:8080' } },
});
