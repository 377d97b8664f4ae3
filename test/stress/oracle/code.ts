/** The code under test: this project's sources, or a copy of them. */
import { pathToFileURL } from 'node:url';

export interface Code {
  readonly createSync: typeof import('../../../packages/tidemark/src/server.js').createSync;
  readonly migrate: typeof import('../../../packages/tidemark/src/migrate.js').migrate;
  readonly defineMutator: typeof import('../../../packages/tidemark/src/registry/mutators.js').mutatorFor;
  readonly defineMutators: typeof import('../../../packages/tidemark/src/registry/mutators.js').defineMutators;
  readonly openPool: typeof import('../../../packages/tidemark/src/db/pg.js').openPool;
  readonly prune: typeof import('../../../packages/tidemark/src/store/retention.js').prune;
  readonly readNewChanges: typeof import('../../../packages/tidemark/src/store/polls/new-changes.js').readNewChanges;
  readonly findAffectedCohorts: typeof import('../../../packages/tidemark/src/store/affected-cohorts.js').findAffectedCohorts;
  readonly changedTablesOf: typeof import('../../../packages/tidemark/src/store/patches/patch-sql.js').changedTablesOf;
  readonly createReader: typeof import('../../../packages/tidemark/src/pulls/reads/reader.js').createReader;
  readonly CohortReads: typeof import('../../../packages/tidemark/src/pulls/reads/cohort-reads.js').CohortReads;
  readonly ClientViews: typeof import('../../../packages/tidemark/src/view/client-views.js').ClientViews;
  readonly SchemaCache: typeof import('../../../packages/tidemark/src/schema/schema-cache.js').SchemaCache;
}

const sources: string = new URL('../../../packages/tidemark/src', import.meta.url).pathname;

const files = [
  'server.ts',
  'migrate.ts',
  'registry/mutators.ts',
  'db/pg.ts',
  'store/retention.ts',
  'store/polls/new-changes.ts',
  'store/affected-cohorts.ts',
  'store/patches/patch-sql.ts',
  'pulls/reads/reader.ts',
  'pulls/reads/cohort-reads.ts',
  'view/client-views.ts',
  'schema/schema-cache.ts',
];

export async function loadCode(folder: string = sources): Promise<Code> {
  const load = (file: string) => import(/* @vite-ignore */ pathToFileURL(`${folder}/${file}`).href);
  const modules = await Promise.all(files.map(load));
  const { mutatorFor: defineMutator, ...code } = Object.assign({}, ...modules);
  return { ...code, defineMutator };
}
