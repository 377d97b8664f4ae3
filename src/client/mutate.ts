import type { MutatorFunction, WriteTransaction } from '#engine';
import { ClientError } from './client-error.js';
import type { PendingMutation, ReadonlyJSON } from './stores/types.js';

/** A mutator of the application, by its name with dots. */
export type NamedMutators = ReadonlyMap<string, (tx: unknown, args: unknown) => Promise<void> | void>;

/** The engine's mutator for all names without an optimistic effect: its args say which one is called. */
const plainCall = 'tidemark/call';

/** The functions in a tree or record of mutators. */
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
 * The mutators as the engine takes them.
 * @param beforeRepeat called before a mutator is repeated on newer data
 * @param onDropped called with the error of a mutator that is repeated
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
      if (tx.reason === 'initial') return run(await transaction(tx), args);
      await beforeRepeat(tx);
      const attempt = revocable(tx);
      try {
        await run(await transaction(attempt), args);
      } catch (error) {
        // It would stop every pull as long as its mutation is pending. What the server makes of it is shown all the same.
        await attempt.revoke();
        onDropped(name, tx, error);
      }
    },
  ]);
  return Object.fromEntries([
    ...entries,
    [plainCall, (tx) => (tx.reason === 'initial' ? Promise.resolve() : beforeRepeat(tx))],
  ]);
}

/** The mutations that have been told of: each is repeated many times. */
const told = new Set<string>();

/** Says on the console that a mutation has no effect here any more. */
export function tellDropped(name: string, { clientID, mutationID }: WriteTransaction, error: unknown): void {
  const mutation = `${clientID} ${mutationID}`;
  if (told.has(mutation)) return;
  told.add(mutation);
  console.error(
    `The client’s mutator "${name}" failed when it was repeated on newer data, so the page shows nothing of the call until the server has decided. What to do: have the mutator allow for rows that have changed or are gone.`,
    error,
  );
}

/** A transaction whose writes can be taken back. */
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
      for (const [key, reading] of before) {
        const value = await reading;
        await (value === undefined ? tx.del(key) : tx.set(key, value));
      }
    },
  };
}

/** The engine's call of a mutator. */
export function engineCall(
  mutators: NamedMutators,
  name: string,
  args: unknown,
): { readonly name: string; readonly args: ReadonlyJSON } {
  const sent = (args ?? null) as ReadonlyJSON;
  return mutators.has(name) ? { name, args: sent } : { name: plainCall, args: { name, args: sent } };
}

/** A mutation of the engine's, as the server knows it. */
export function toServer(mutation: PendingMutation): PendingMutation {
  if (mutation.name !== plainCall) return mutation;
  const { name, args } = mutation.args as { readonly name: string; readonly args: ReadonlyJSON };
  return { ...mutation, name, args };
}

/**
 * Functions by names with dots: `mutate.todo.create` calls `todo.create`. Which names there are is known to the types
 * alone.
 */
export function callsByName(call: (name: string, args: unknown) => Promise<void>, prefix = ''): object {
  return new Proxy(() => {}, {
    get: (_, key) => {
      // Neither a promise nor a thing to print: `await mutate` and `console.log(mutate)` call nothing.
      if (typeof key === 'symbol' || key === 'then' || key === 'toJSON') return undefined;
      return callsByName(call, prefix ? `${prefix}.${key}` : key);
    },
    apply: (_, __, [args]: unknown[]) => call(prefix, args),
  });
}
