import { createHash } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

export default defineConfig({
  plugins: [react(), serviceWorker()],
  build: { outDir: 'dist/client' },
  // The folder of the embedded database, with its password.
  server: {
    watch: { ignored: ['**/.tidemark/**'] },
    fs: { deny: ['**/.tidemark/**', '**/.git/**', '.env', '.env.*'] },
  },
});

/** Adds the service worker to the build, with the paths and hashes of all other files. */
function serviceWorker(): Plugin {
  const hash = (data: string | Buffer) => createHash('sha256').update(data).digest('base64');
  return {
    name: 'service-worker',
    apply: ({ build }, { command }) => command === 'build' && !build?.ssr,
    async writeBundle({ dir = '' }) {
      const entries = await readdir(dir, { recursive: true, withFileTypes: true });
      const paths = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
      const files: Record<string, string> = {};
      for (const path of paths.sort()) {
        const url = encodeURI(path.slice(dir.length).replaceAll('\\', '/'));
        files[url === '/index.html' ? '/' : url] = `sha256-${hash(await readFile(path))}`;
      }
      const build = JSON.stringify({ version: hash(JSON.stringify(files)), files });
      const text = await readFile(new URL('client/service-worker.js', import.meta.url), 'utf8');
      await writeFile(join(dir, 'service-worker.js'), `const build = ${build};\n${text}`);
    },
  };
}
