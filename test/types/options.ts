import {
  defineMutator as defineZeroMutator,
  defineMutators as defineZeroMutators,
  type Schema,
  type Transaction,
} from '@rocicorp/zero';
import type { ClientBase } from 'pg';
import { createRest, createSync, defineConfig, defineMutator, defineMutators, mutatorFor } from 'tidemark';
import type { AppContext, AppTransaction } from './app.js';

const database = 'postgres://';
const views = {};
const authenticate = (): AppContext => ({ userID: 'ann', roles: [] });
declare function wrap(client: ClientBase): AppTransaction;

const ofPg = defineMutators({ a: defineMutator(async ({ tx }) => void (await tx.query('select'))) });
const ofApp = defineMutators({ a: mutatorFor<AppContext, AppTransaction>()(({ tx }) => tx.insert({})) });
const ofZero = defineZeroMutators({ a: defineZeroMutator(async ({ tx }: { tx: Transaction<Schema> }) => void tx) });

await createSync({ database, views, authenticate });
await createSync({ database, views, authenticate, mutators: ofPg });
await createSync({ database, views, authenticate, mutators: ofApp, tx: wrap });
await createSync({ database, views, authenticate, mutators: ofZero, tx: wrap });
// @ts-expect-error Nothing says how `tx` is made.
await createSync({ database, views, authenticate, mutators: ofApp });
// @ts-expect-error Nor does this say it.
await createSync({ database, views, authenticate, mutators: ofApp, tx: undefined });
// @ts-expect-error Zero's mutators take a transaction of Zero's, not a `pg` client.
await createSync({ database, views, authenticate, mutators: ofZero });
// @ts-expect-error What `tx` makes is not what the mutators take.
await createSync({ database, views, authenticate, mutators: ofApp, tx: (client) => client });
// @ts-expect-error This is no registry.
await createSync({ database, views, authenticate, mutators: { '~': 1 } });
// @ts-expect-error Nor is this.
await createSync({ database, views, authenticate, mutators: { a: () => {} } });
// @ts-expect-error The mutators need more than this context offers.
await createSync({ database, views, authenticate: () => ({ userID: 'ann' }), mutators: ofApp, tx: wrap });

defineConfig({ views, authenticate, mutators: ofApp, tx: wrap });
// @ts-expect-error Nothing says how `tx` is made.
defineConfig({ views, authenticate, mutators: ofApp });
// @ts-expect-error Nor here.
defineConfig({ views, authenticate, mutators: ofZero });

const transact = <T>(work: (tx: AppTransaction) => Promise<T>): Promise<T> => work({} as AppTransaction);
createRest({ mutators: ofApp, authenticate, transact });
// @ts-expect-error The transaction is not what the mutators take.
createRest({ mutators: ofPg, authenticate, transact });

// What an application has no value for may be passed on as it is.
await createSync({
  database,
  views,
  authenticate,
  mutators: undefined,
  validators: undefined,
  schemaVersions: undefined,
  sampleContext: undefined,
  forward: undefined,
  basePath: undefined,
  rest: { info: undefined, discovery: undefined, securityScheme: undefined },
  limits: { pull: undefined, call: 1024 },
  pokes: { intervalMs: undefined, notify: undefined, maxStreams: undefined },
  retentionSeconds: undefined,
  retentionBytes: undefined,
  audit: undefined,
  log: undefined,
});
