import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

export default defineConfig({
  root: fileURLToPath(new URL('web', import.meta.url)),
  logLevel: 'warn',
  build: {
    outDir: fileURLToPath(new URL('dist/web', import.meta.url)),
    emptyOutDir: true,
    target: 'es2023',
    // Separate files, whose names contain a hash: the server lets browsers keep them permanently.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // The directive "use client" has no effect in a bundle.
    rolldownOptions: { checks: { moduleLevelDirective: false } },
  },
});
