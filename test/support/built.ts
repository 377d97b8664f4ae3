/**
 * The output of `npm run build`, for tests of what is published. They refuse to run on a build older than the sources.
 */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../..', import.meta.url));
/** The server's compiled files. */
export const builtServer = join(root, 'packages/tidemark/dist');
/** The client's compiled files. */
export const builtClient = join(root, 'packages/client/dist');
/** The command line. */
export const bin = join(builtServer, 'cli.js');
/** The example's server. */
export const exampleMain = join(root, 'examples/tasks/dist/main.js');
/** The files of the example's web application. */
export const exampleWeb = join(root, 'examples/tasks/dist/web');
/** The server of the example for TanStack DB. */
export const tanstackMain = join(root, 'examples/tanstack/dist/main.js');
/** The server of the example with an issue tracker. */
export const trackerMain = join(root, 'examples/tracker/dist/main.js');

function newestIn(folder: string): number {
  const files = readdirSync(join(root, folder), { recursive: true, withFileTypes: true }).filter(
    (file) => file.isFile() && !file.name.endsWith('.test.ts'),
  );
  return Math.max(...files.map((file) => statSync(join(file.parentPath, file.name)).mtimeMs));
}

const inputs: readonly (readonly [folder: string, output: string])[] = [
  ['packages/client/src', join(builtClient, 'index.js')],
  ['packages/embedded-postgres/src', join(root, 'packages/embedded-postgres/dist/index.js')],
  ['packages/tidemark/src', bin],
  ['examples/tasks/src', exampleMain],
  ['examples/tasks/web', join(exampleWeb, 'index.html')],
  ['examples/tanstack/src', tanstackMain],
  ['examples/tanstack/web', join(root, 'examples/tanstack/dist/web/index.html')],
  ['examples/tracker/src', trackerMain],
  ['examples/tracker/web', join(root, 'examples/tracker/dist/web/index.html')],
];
for (const [folder, output] of inputs) {
  if (!existsSync(output) || statSync(output).mtimeMs < newestIn(folder)) {
    throw new Error(`${output} is missing or older than ${folder}: run npm run build`);
  }
}
