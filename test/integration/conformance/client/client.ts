/** The real sync client, set up as an application would: Replicache, or the engine of `@tidemark/client`. */
import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import {
  type MutatorDefs,
  type ReadonlyJSONObject,
  Replicache,
  type ReplicacheOptions,
  type WriteTransaction,
} from 'replicache';

// Each waiting request listens to the client's single abort signal.
setMaxListeners(0);

/** The effects of the example's mutators that a client can predict. */
export const optimistic = {
  'list.create': (tx: WriteTransaction, { id, name }: { id: string; name: string }) =>
    tx.set(`list/${id}`, { id, name, ownerID: 'me' }),
  'list.delete': async (tx: WriteTransaction, { id }: { id: string }) => {
    await tx.del(`list/${id}`);
  },
  'list.share': async (_: WriteTransaction, _args: { listID: string; userID: string }) => {},
  'list.unshare': async (_: WriteTransaction, _args: { listID: string; userID: string }) => {},
  'todo.create': (tx: WriteTransaction, todo: { id: string; listID: string; title: string; sort: number }) =>
    tx.set(`todo/${todo.id}`, { ...todo, done: false }),
  'todo.update': async (
    tx: WriteTransaction,
    change: { id: string; title?: string; done?: boolean; sort?: number },
  ) => {
    const todo = await tx.get(`todo/${change.id}`);
    if (todo) await tx.set(`todo/${change.id}`, { ...(todo as ReadonlyJSONObject), ...change });
  },
  'todo.delete': async (tx: WriteTransaction, { id }: { id: string }) => {
    await tx.del(`todo/${id}`);
  },
};

export type Tasks = typeof optimistic;

export type Engine = Replicache<Tasks & MutatorDefs>;

export type OpenEngine = (options: ReplicacheOptions<Tasks & MutatorDefs>) => Engine;

export type ClientOptions = Omit<Partial<ReplicacheOptions<Tasks>>, 'mutators'> & {
  /** Mutators besides those of the example. Another set of names makes another client group. */
  readonly moreMutators?: MutatorDefs;
  /** Default: the engine that `TIDEMARK_TEST_ENGINE` names, or Replicache. */
  readonly open?: OpenEngine;
};

export interface TestClient {
  readonly rep: Engine;
  /** Every error that the client reported. */
  readonly errors: string[];
  /** Every entry of the client's view except refusals, including optimistic changes. */
  entries(): Promise<Record<string, ReadonlyJSONObject>>;
  keys(): Promise<string[]>;
  /** The number of its own mutations that no pull has confirmed. */
  pending(): Promise<number>;
  /** Pulls until the condition holds. */
  pullUntil(condition: () => Promise<boolean>): Promise<void>;
  /** Pulls until every mutation is confirmed. */
  settle(): Promise<void>;
  /** Waits until a new tab would have the same data as this one before its first pull. */
  persisted(): Promise<void>;
}

export function openClient(server: { readonly url: string }, user: string, options: ClientOptions = {}): TestClient {
  const { moreMutators, open = openEngine, ...rest } = options;
  const errors: string[] = [];
  const rep = open({
    name: `${user} ${randomUUID()}`,
    kvStore: 'mem',
    logLevel: 'error',
    logSinks: [{ log: (_level, _context, ...words) => void errors.push(words.map(String).join(' ')) }],
    pullURL: `${server.url}/sync/pull`,
    pushURL: `${server.url}/sync/push`,
    auth: `Bearer ${user}`,
    pullInterval: null,
    pushDelay: 5,
    requestOptions: { minDelayMs: 10, maxDelayMs: 200 },
    mutators: { ...optimistic, ...moreMutators },
    ...rest,
  });
  const entries = () => entriesOf(rep);
  const pending = async () => (await rep.experimentalPendingMutations()).length;
  let idle = true;
  const pullOnce = async () => {
    if (!idle) return;
    idle = false;
    // It rejects only if the client is closed in the meantime.
    await rep.pull({ now: true }).catch(() => {});
    idle = true;
  };
  const pullUntil = (condition: () => Promise<boolean>) =>
    until(async () => {
      if (await condition()) return true;
      void pullOnce();
      return false;
    });
  return {
    rep,
    errors,
    entries: entries as TestClient['entries'],
    keys: async () => Object.keys(await entries()),
    pending,
    pullUntil,
    settle: () => pullUntil(async () => (await pending()) === 0),
    async persisted() {
      const wanted = await stateOf(rep);
      const url = { pullURL: '', pushURL: '' };
      await until(async () => {
        const tab = openClient(server, user, { ...options, ...url, name: rep.name });
        const found = await stateOf(tab.rep);
        await tab.rep.close();
        return isDeepStrictEqual(found, wanted);
      });
    },
  };
}

const entriesOf = (engine: Engine) =>
  engine.query(async (tx) => Object.fromEntries((await tx.scan().entries().toArray()).filter(isData)));

/** A client's entries and its unconfirmed mutations. An entry alone may be the effect of a pending mutation. */
async function stateOf(engine: Engine) {
  // A query waits until the client has opened its store. Reading the pending mutations does not.
  const entries = await entriesOf(engine);
  const pending = await engine.experimentalPendingMutations();
  return { entries, pending: pending.map(({ clientID, id }) => `${clientID}/${id}`) };
}

/** False for refusals, which the client of `@tidemark/client` receives under keys of their own. */
function isData([key]: readonly [key: string, value: unknown]): boolean {
  return !key.startsWith('tidemark/');
}

// Only code that runs in Vitest finds the bundled engine.
const own = process.env.TIDEMARK_TEST_ENGINE === 'tidemark' ? await import('./own-engine.js') : undefined;

/** Both engines have the same methods. */
const openEngine: OpenEngine = (options) => (own ? (own.openOwnEngine(options) as Engine) : new Replicache(options));

/** Waits for a condition. The stack of the error shows which condition did not hold. */
export async function until(condition: () => Promise<boolean> | boolean, timeoutMs = 30_000): Promise<void> {
  const failure = new Error(`The condition did not hold within ${timeoutMs} ms`);
  const deadline = Date.now() + timeoutMs;
  while (!(await condition())) {
    if (Date.now() > deadline) throw failure;
    await sleep(20);
  }
}
