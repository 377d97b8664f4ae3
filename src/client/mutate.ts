import type { MutatorFunction, WriteTransaction } from '#engine';
import { ClientError } from './client-error.js';
import type { PendingMutation, ReadonlyJSON } from './store.js';

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

/** The mutators as the engine takes them. */
export function engineMutators(
  mutators: NamedMutators,
  transaction: (tx: WriteTransaction) => unknown,
): Record<string, MutatorFunction> {
  const entries = [...mutators].map(([name, run]): [string, MutatorFunction] => [
    name,
    async (tx, args) => run(transaction(tx), args),
  ]);
  return Object.fromEntries([...entries, [plainCall, async () => {}]]);
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
