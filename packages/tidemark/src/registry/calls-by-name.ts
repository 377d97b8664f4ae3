/** Functions that call mutators by their names, nested as in `defineMutators`. */
import type { MutatorTypes, TypesOf } from './types.js';

/** The namespaces of dotted names. */
type Spaces<Name> = Name extends `${infer Space}.${string}` ? Space : never;

/** The mutators in a namespace. */
type Inside<Types, Space extends string> = {
  readonly [Name in keyof Types as Name extends `${Space}.${infer Rest}` ? Rest : never]: Types[Name];
};

/** The parts of a tree of mutators: names, in full or up to a dot. */
type Branch<Types> = (keyof Types & string) | Spaces<keyof Types & string>;

type CallFunction<Types> = Types extends MutatorTypes
  ? undefined extends Types['args']
    ? (args?: Types['args']) => Promise<Types['result']>
    : (args: Types['args']) => Promise<Types['result']>
  : never;

type Tree<Types> = {
  readonly [Name in Branch<Types>]: (Name extends keyof Types ? CallFunction<Types[Name]> : unknown) &
    (Name extends Spaces<keyof Types> ? Tree<Inside<Types, Name>> : unknown);
};

/** Calls the mutators of a registry by their names: `todo.create(args)`, or `['todo.create'](args)`. */
export type CallsByName<Registry> = Tree<TypesOf<Registry>>;

/**
 * Creates functions by dotted names: `todo.create` calls `todo.create`. Every name exists at run time; only the types
 * restrict them.
 */
export function callsByName(call: (name: string, args: unknown) => Promise<unknown>, prefix = ''): object {
  return new Proxy(() => {}, {
    get: (_, key) => {
      // Not a promise and not printable, so `await mutate` and `console.log(mutate)` call no mutator.
      if (typeof key === 'symbol' || key === 'then' || key === 'toJSON') return undefined;
      return callsByName(call, prefix ? `${prefix}.${key}` : key);
    },
    apply: (_, __, [args]: unknown[]) => call(prefix, args),
  });
}
