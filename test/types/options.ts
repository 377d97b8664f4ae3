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
// @ts-expect-error The option `tx` is missing.
await createSync({ database, views, authenticate, mutators: ofApp });
// @ts-expect-error The option `tx` must not be undefined.
await createSync({ database, views, authenticate, mutators: ofApp, tx: undefined });
// @ts-expect-error Zero's mutators take a Zero transaction, not a `pg` client.
await createSync({ database, views, authenticate, mutators: ofZero });
// @ts-expect-error The mutators take another transaction than `tx` makes.
await createSync({ database, views, authenticate, mutators: ofApp, tx: (client) => client });
// @ts-expect-error This is not a registry.
await createSync({ database, views, authenticate, mutators: { '~': 1 } });
// @ts-expect-error A record of functions is not a registry.
await createSync({ database, views, authenticate, mutators: { a: () => {} } });
// @ts-expect-error The mutators need more than this context offers.
await createSync({ database, views, authenticate: () => ({ userID: 'ann' }), mutators: ofApp, tx: wrap });

defineConfig({ views, authenticate, mutators: ofApp, tx: wrap });
// @ts-expect-error The option `tx` is missing.
defineConfig({ views, authenticate, mutators: ofApp });
// @ts-expect-error The option `tx` is missing.
defineConfig({ views, authenticate, mutators: ofZero });

const transact = <T>(work: (tx: AppTransaction) => Promise<T>): Promise<T> => work({} as AppTransaction);
createRest({ mutators: ofApp, authenticate, transact });
// @ts-expect-error The mutators take another transaction.
createRest({ mutators: ofPg, authenticate, transact });

// Options without a value can be passed as undefined.
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
  consistencyChecks: undefined,
  log: undefined,
});
