import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

export default defineConfig({
  root: fileURLToPath(new URL('web', import.meta.url)),
  logLevel: 'warn',
  build: {
    outDir: fileURLToPath(new URL('dist/web', import.meta.url)),
    emptyOutDir: true,
    target: 'es2023',
    chunkSizeWarningLimit: 1_000,
    // The directive "use client" has no effect in a bundle.
    rolldownOptions: { checks: { moduleLevelDirective: false } },
  },
});
