// Compiles the package, then the example that imports it by its public name.
import { execFileSync } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const tsc = fileURLToPath(new URL('../node_modules/typescript/bin/tsc', import.meta.url));
rmSync(`${root}dist`, { recursive: true, force: true });
for (const project of ['tsconfig.json', 'examples/tasks/tsconfig.json']) {
  if (existsSync(root + project)) execFileSync(process.execPath, [tsc, '-p', root + project], { stdio: 'inherit' });
}
