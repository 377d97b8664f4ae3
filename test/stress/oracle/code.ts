/** The code under test: this project's sources, or a copy of them. */
import { pathToFileURL } from 'node:url';

export interface Code {
  readonly createSync: typeof import('../../../src/server.js').createSync;
  readonly migrate: typeof import('../../../src/migrate.js').migrate;
  readonly defineMutator: typeof import('../../../src/registry/mutators.js').mutatorFor;
  readonly defineMutators: typeof import('../../../src/registry/mutators.js').defineMutators;
  readonly openPool: typeof import('../../../src/db/pg.js').openPool;
  readonly prune: typeof import('../../../src/store/retention.js').prune;
  readonly readTail: typeof import('../../../src/store/tail.js').readTail;
  readonly findAffected: typeof import('../../../src/store/affected.js').findAffected;
  readonly changesOf: typeof import('../../../src/store/patches/patch-sql.js').changesOf;
  readonly Reader: typeof import('../../../src/pulls/reader.js').Reader;
  readonly SeatedReads: typeof import('../../../src/pulls/seated-reads.js').SeatedReads;
  readonly ClientViews: typeof import('../../../src/view/client-views.js').ClientViews;
  readonly CurrentInstallation: typeof import('../../../src/installation/current-installation.js').CurrentInstallation;
}

const sources: string = new URL('../../../src', import.meta.url).pathname;

const files = [
  'server.ts',
  'migrate.ts',
  'registry/mutators.ts',
  'db/pg.ts',
  'store/retention.ts',
  'store/tail.ts',
  'store/affected.ts',
  'store/patches/patch-sql.ts',
  'pulls/reader.ts',
  'pulls/seated-reads.ts',
  'view/client-views.ts',
  'installation/current-installation.ts',
];

export async function loadCode(folder: string = sources): Promise<Code> {
  const load = (file: string) => import(/* @vite-ignore */ pathToFileURL(`${folder}/${file}`).href);
  const modules = await Promise.all(files.map(load));
  const { mutatorFor: defineMutator, ...code } = Object.assign({}, ...modules);
  return { ...code, defineMutator };
}
