import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { rolldown } from 'rolldown';
import { describe, expect, it } from 'vitest';
import * as bundle from '#engine';
import type { IDBDatabasesStore } from '../../../node_modules/@rocicorp/zero/out/replicache/src/persist/idb-databases-store.js';
import type { ReplicacheImpl } from '../../../node_modules/@rocicorp/zero/out/replicache/src/replicache-impl.js';
import { builtClient, root } from '../../support/built.js';

const read = (path: string) => readFileSync(new URL(path, `file://${root}`), 'utf8');

// Compiles only while the package's own types provide what is declared here.
type Checked = Exclude<keyof bundle.ReplicacheImpl, 'puller' | 'pusher' | 'recoverMutations'>;
export const declared: (own: Pick<ReplicacheImpl, Checked>) => Pick<bundle.ReplicacheImpl, Checked> = (own) => own;
export const databases: (own: IDBDatabasesStore) => bundle.IDBDatabasesStore = (own) => own;

describe('the bundle of the engine', () => {
  it('exports exactly what is declared, and its functions take the expected number of args', () => {
    const types = read('packages/client/src/engine.d.ts');
    const names = [...types.matchAll(/^export declare (?:class|const|function) (\w+)/gm)].map(([, name]) => name!);
    expect(Object.keys(bundle).toSorted()).toEqual(names.toSorted());
    expect(bundle.push.length).toBe(9);
    // The last parameter has a default.
    expect(bundle.beginPullV1.length).toBe(9);
    expect(bundle.setClientGroup.length).toBe(3);
    expect(read('packages/client/dist/engine.d.ts')).toBe(types);
  });

  it('lists the works that it contains, with their licences', () => {
    const licences = read('packages/client/dist/engine.js.LICENSE.txt');
    for (const name of ['@rocicorp/zero 1.9.0 (Apache-2.0)', '@rocicorp/lock', 'compare-utf8']) {
      expect(licences).toContain(name);
    }
    expect(licences).toMatch(/https:\/\/www\.apache\.org\/licenses\/LICENSE-2\.0/);
    expect(read('packages/client/dist/engine.js')).toMatch(/^\/\*! .*engine\.js\.LICENSE\.txt/);
  });

  it('contains no address', () => {
    expect(read('packages/client/dist/engine.js').match(/https?:\/\/[^"'`\s]+/g) ?? []).toEqual([]);
  });
});

/** Packages that an application which imports these entry points has anyway. */
const peers = ['react', '@tanstack/db'];

/** The compressed size in bytes of an entry point and all its imports, as an application's own build bundles them. */
async function sizeOf(entry: string): Promise<number> {
  const { exports } = JSON.parse(read('packages/client/package.json'));
  const file = exports[entry.replace('@tidemark/client', '.')].default;
  const built = await rolldown({ input: join(builtClient, '..', file), platform: 'browser', external: peers });
  const { output } = await built.generate({ format: 'esm', minify: true });
  await built.close();
  expect(output).toHaveLength(1);
  return gzipSync(output[0].code, { level: 9 }).length;
}

/** The sizes in docs/client.md: the current one, and the maximum. */
const sizes = [...read('docs/client.md').matchAll(/^\| `(@tidemark\/[\w/-]+)` \| ([\d.]+) kB \| ([\d.]+) kB \|$/gm)];

it('docs/client.md lists the sizes of the entry points for the browser', () => {
  expect(sizes.map(([, entry, , maxSize]) => [entry, maxSize])).toEqual([
    ['@tidemark/client', '42'],
    ['@tidemark/client/poke', '1.7'],
    ['@tidemark/client/react', '3'],
    ['@tidemark/client/tanstack-db', '3'],
  ]);
});

it.each(sizes.map(([, entry, size, maxSize]) => [entry!, Number(size), Number(maxSize)] as const))(
  '%s has about %s kB, and no more than %s kB',
  async (entry, size, maxSize) => {
    const kB = (await sizeOf(entry)) / 1000;
    expect(kB).toBeLessThanOrEqual(maxSize);
    expect(Math.abs(kB - size)).toBeLessThanOrEqual(0.1);
  },
);
