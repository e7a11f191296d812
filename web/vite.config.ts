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
    // What every visit needs is two files: parts that lazy views share would be files of their own, each with a request.
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: 'main', tags: ['$initial'] },
            { name: 'sync', test: /conversation\/(server-sync|merge)\.ts|service\/chats\.ts|rolldown\/runtime/ },
          ],
        },
      },
    },
  },
});
