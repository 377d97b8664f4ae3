import type { MutatorFunction, WriteTransaction } from '#engine';
import { ClientError } from './client-error.js';
import type { PendingMutation, ReadonlyJSON } from './stores/types.js';
import type { MutationCall } from './types.js';

/** The application's mutators by their dotted names. */
export type NamedMutators = ReadonlyMap<string, (tx: unknown, args: unknown) => Promise<void> | void>;

/** The engine's mutator for all mutators without an optimistic effect. Its args name the one that is called. */
const plainCall = 'tidemark/call';

/** Collects the functions of a tree or record of mutators. */
export function namedMutators(tree: object, prefix = ''): NamedMutators {
  return new Map(
    Object.entries(tree).flatMap(([key, child]: [string, unknown]): [string, never][] => {
      if (typeof child === 'function') return [[prefix + key, child as never]];
      if (typeof child === 'object' && child !== null) return [...namedMutators(child, `${prefix}${key}.`)] as never;
      if (child === undefined) return [];
      const message = `The client's mutator "${prefix}${key}" is not a function. What to do: give it one, (tx, args) => …, or leave it out.`;
      throw new ClientError('no-function', message);
    }),
  );
}

/**
 * Converts mutators to those of the engine, whose first run returns the ID of the mutation.
 * @param beforeRepeat called before a mutator reruns on newer data
 * @param onDropped called with the error of a mutator that fails in a rerun
 */
export function engineMutators(
  mutators: NamedMutators,
  transaction: (tx: WriteTransaction) => Promise<unknown>,
  beforeRepeat: (tx: WriteTransaction) => Promise<void>,
  onDropped: (name: string, tx: WriteTransaction, error: unknown) => void,
): Record<string, MutatorFunction> {
  const entries = [...mutators].map(([name, run]): [string, MutatorFunction] => [
    name,
    async (tx, args) => {
      if (tx.reason === 'initial') {
        await run(await transaction(tx), args);
        return tx.mutationID;
      }
      await beforeRepeat(tx);
      const revocableTx = revocable(tx);
      try {
        await run(await transaction(revocableTx), args);
      } catch (error) {
        // Rethrowing would fail every pull while the mutation is pending. The server's result still shows up.
        await revocableTx.revoke();
        onDropped(name, tx, error);
      }
    },
  ]);
  return Object.fromEntries([
    ...entries,
    [plainCall, async (tx) => (tx.reason === 'initial' ? tx.mutationID : beforeRepeat(tx))],
  ]);
}

/** The mutations whose failure has been logged. A pending mutation can rerun many times. */
const loggedMutations = new Set<string>();

/** Logs, once for each mutation, that it no longer has an effect here. */
export function logDropped(name: string, { clientID, mutationID }: WriteTransaction, error: unknown): void {
  const mutation = `${clientID} ${mutationID}`;
  if (loggedMutations.has(mutation)) return;
  loggedMutations.add(mutation);
  console.error(
    `The client’s mutator "${name}" failed when it was repeated on newer data, so the page shows nothing of the call until the server has decided. What to do: allow for rows that have changed or are gone.`,
    error,
  );
}

/** Wraps a transaction so that its writes can be undone. */
function revocable(tx: WriteTransaction): WriteTransaction & { revoke(): Promise<void> } {
  const before = new Map<string, Promise<ReadonlyJSON | undefined>>();
  const remember = async (key: string) => {
    if (!before.has(key)) before.set(key, tx.get(key));
    await before.get(key);
  };
  return {
    clientID: tx.clientID,
    mutationID: tx.mutationID,
    reason: tx.reason,
    dbtx: tx.dbtx,
    get: (key) => tx.get(key),
    has: (key) => tx.has(key),
    scan: tx.scan.bind(tx) as WriteTransaction['scan'],
    async set(key, value) {
      await remember(key);
      await tx.set(key, value);
    },
    async del(key) {
      await remember(key);
      return tx.del(key);
    },
    async revoke() {
      for (const [key, valuePromise] of before) {
        const value = await valuePromise;
        await (value === undefined ? tx.del(key) : tx.set(key, value));
      }
    },
  };
}

/** Returns the engine's mutator and args for a call of the mutator `name`. */
export function engineCall(
  mutators: NamedMutators,
  name: string,
  args: unknown,
): { readonly name: string; readonly args: ReadonlyJSON } {
  const sent = (args ?? null) as ReadonlyJSON;
  return mutators.has(name) ? { name, args: sent } : { name: plainCall, args: { name, args: sent } };
}

/** Converts a mutation of the engine to the one that the server receives. */
export function toServer(mutation: PendingMutation): PendingMutation {
  if (mutation.name !== plainCall) return mutation;
  const { name, args } = mutation.args as { readonly name: string; readonly args: ReadonlyJSON };
  return { ...mutation, name, args };
}

/**
 * Creates functions by dotted names: `mutate.todo.create` calls `todo.create`. Every name exists at run time; only the
 * types restrict them.
 */
export function callsByName(call: (name: string, args: unknown) => MutationCall, prefix = ''): object {
  return new Proxy(() => {}, {
    get: (_, key) => {
      // Not a promise and not printable, so `await mutate` and `console.log(mutate)` call no mutator.
      if (typeof key === 'symbol' || key === 'then' || key === 'toJSON') return undefined;
      return callsByName(call, prefix ? `${prefix}.${key}` : key);
    },
    apply: (_, __, [args]: unknown[]) => call(prefix, args),
  });
}
