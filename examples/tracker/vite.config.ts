import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));

/** Builds the page twice: its files for the browser, and the function with which the server renders it. */
export default defineConfig({
  root: path('web'),
  logLevel: 'warn',
  builder: {},
  build: { emptyOutDir: true, target: 'es2023', chunkSizeWarningLimit: 1_000, assetsInlineLimit: 0 },
  environments: {
    client: {
      build: {
        outDir: path('dist/web'),
        modulePreload: { polyfill: false },
        // The directive "use client" has no effect in a bundle.
        rolldownOptions: { checks: { moduleLevelDirective: false } },
      },
    },
    ssr: {
      // One file with all that it needs: production installs no React.
      resolve: { noExternal: true },
      define: { 'process.env.NODE_ENV': '"production"' },
      build: {
        outDir: path('dist/page'),
        copyPublicDir: false,
        rolldownOptions: {
          input: path('web/src/render.tsx'),
          checks: { moduleLevelDirective: false },
        },
      },
    },
  },
});
