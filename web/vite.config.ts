import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

const icon = readFileSync(new URL('public/parley.svg', import.meta.url), 'base64');

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  base: './',
  // Chromium would request a file with the icon twice.
  plugins: [{ name: 'icon', transformIndexHtml: (html) => html.replace('./parley.svg', `data:image/svg+xml;base64,${icon}`) }],
  build: {
    target: 'es2023',
    outDir: 'dist',
    emptyOutDir: true,
    // No data URLs, because the policy of the page allows them only for images.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // Each visit needs only two files. Otherwise, code that lazy views share would become further files and requests.
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [{ name: 'main', tags: ['$initial'] }],
        },
      },
    },
  },
});
