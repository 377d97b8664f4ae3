/** An application bundled into one file: without its packages, and without their files. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RolldownOutput, rolldown } from 'rolldown';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { builtServer, root } from '../../support/built.js';
import { createEmptyDatabase, type TestDatabase } from '../../support/database.js';
import { endsCleanly, type Serving, serve } from './host.js';
import { probe } from './probe.js';

const folder = mkdtempSync(join(tmpdir(), 'tidemark-bundled-'));
let database: TestDatabase;
let serving: Serving | undefined;

async function bundled(): Promise<RolldownOutput> {
  const bundle = await rolldown({
    input: join(root, 'examples/hosts/node/server.ts'),
    platform: 'node',
    resolve: { alias: { 'tidemark/node': join(builtServer, 'node.js'), tidemark: join(builtServer, 'index.js') } },
    logLevel: 'silent',
  });
  return bundle.write({ dir: folder, format: 'esm', entryFileNames: 'server.mjs' }).finally(() => bundle.close());
}

let output: RolldownOutput;
beforeAll(async () => {
  database = await createEmptyDatabase();
  await database.pool.query('create table note (id text primary key, owner_id text not null, body text not null)');
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  output = await bundled();
});
afterAll(async () => {
  serving?.child.kill('SIGKILL');
  await serving?.ended;
  await database.drop();
  rmSync(folder, { recursive: true });
});

it('a bundled application imports only modules of Node', () => {
  const imports = output.output.flatMap((chunk) =>
    chunk.type === 'chunk' ? [...chunk.imports, ...chunk.dynamicImports] : [],
  );
  const files = output.output.map(({ fileName }) => fileName);
  expect(imports.filter((name) => !name.startsWith('node:') && !files.includes(name))).toEqual([]);
});

it('a bundled application passes the probe', async () => {
  serving = await serve({ args: ['server.mjs'], cwd: folder }, database.url);
  await probe(serving.url);
  await endsCleanly(serving);
}, 120_000);
