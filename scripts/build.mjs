// Compiles the package, then the example that imports it by its public name, and bundles the example's web application.
import { execFileSync } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const run = (program, ...args) =>
  execFileSync(process.execPath, [`${root}node_modules/${program}`, ...args], { stdio: 'inherit' });

rmSync(`${root}dist`, { recursive: true, force: true });
for (const project of ['tsconfig.json', 'examples/tasks/tsconfig.json', 'examples/tasks/web/tsconfig.json']) {
  if (existsSync(root + project)) run('typescript/bin/tsc', '-p', root + project);
}
const web = `${root}examples/tasks/vite.config.ts`;
if (existsSync(web)) run('vite/bin/vite.js', 'build', '--config', web);
