/** The code under test: this project's sources, or a copy of them. */
import { pathToFileURL } from 'node:url';

export interface Code {
  readonly createSync: typeof import('../../src/server.js').createSync;
  readonly migrate: typeof import('../../src/migrate.js').migrate;
  readonly defineMutator: typeof import('../../src/registry/mutators.js').mutatorFor;
  readonly defineMutators: typeof import('../../src/registry/mutators.js').defineMutators;
  readonly openPool: typeof import('../../src/db/pg.js').openPool;
  readonly prune: typeof import('../../src/store/retention.js').prune;
}

const sources: string = new URL('../../src', import.meta.url).pathname;

export async function loadCode(folder: string = sources): Promise<Code> {
  const load = (file: string) => import(/* @vite-ignore */ pathToFileURL(`${folder}/${file}`).href);
  const [server, migration, mutators, pg, retention] = await Promise.all(
    ['server.ts', 'migrate.ts', 'registry/mutators.ts', 'db/pg.ts', 'store/retention.ts'].map(load),
  );
  return {
    createSync: server.createSync,
    migrate: migration.migrate,
    defineMutator: mutators.mutatorFor,
    defineMutators: mutators.defineMutators,
    openPool: pg.openPool,
    prune: retention.prune,
  };
}
