import { defineConfig } from 'vite';

export default defineConfig({
  build: { outDir: 'dist/client' },
  // The folder of the embedded database, with its password.
  server: {
    watch: { ignored: ['**/.tidemark/**'] },
    fs: { deny: ['**/.tidemark/**', '**/.git/**', '.env', '.env.*'] },
  },
});
