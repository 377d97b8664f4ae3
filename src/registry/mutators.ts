import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { ClientBase } from 'pg';
import type { UserContext } from '../context.js';
import { SetupError } from '../errors.js';
import { collectLeaves } from './tree.js';
import type { MutatorTypes, RegistryTypes, Returned, TypesOfSchemas, TypesOfTree, types } from './types.js';

/** What a mutator's function is called with. */
export interface MutatorCall<Args, Tx, Context> {
  /** The open transaction. It is committed together with the client's lastMutationID. */
  readonly tx: Tx;
  /** The mutation's args: what the validator made of them, or the JSON value as it came when there is no validator. */
  readonly args: Args;
  /** Who calls. */
  readonly ctx: Context;
}

/** What the documentation says about a mutator. */
export interface MutatorDocs<Args = unknown, Result = StandardSchemaV1 | undefined> {
  /** A few words. */
  readonly summary?: string | undefined;
  /** Markdown. */
  readonly description?: string | undefined;
  /** Args to show and to try, each under a few words that say what it is an example of. */
  readonly examples?: Readonly<Record<string, Args>> | undefined;
  /** The schema of what the mutator returns. A REST caller is sent what it makes of that. */
  readonly result?: Result | undefined;
  readonly deprecated?: boolean | undefined;
}

/** A mutator as plain data. */
export interface Mutator<Tx = ClientBase, Context = UserContext, Types = MutatorTypes> extends MutatorDocs {
  readonly validator: StandardSchemaV1 | undefined;
  /** Expects args that have passed the validator: what that made of them, unless it `validates` for itself. */
  readonly run: (call: MutatorCall<unknown, Tx, Context>) => unknown;
  /** `run` has a validator of its own, and takes the args as they came. */
  readonly validates?: boolean | undefined;
  readonly [types]?: Types;
}

/** Defines a mutator, with or without a Standard Schema validator (zod, valibot, arktype, …) for its args. */
export interface DefineMutator<Tx, Context> {
  <Validator extends StandardSchemaV1, Result extends StandardSchemaV1 | undefined = undefined>(
    validator: Validator,
    run: (call: MutatorCall<StandardSchemaV1.InferOutput<Validator>, Tx, Context>) => Returned<Result>,
    docs?: MutatorDocs<StandardSchemaV1.InferInput<Validator>, Result>,
  ): Mutator<Tx, Context, TypesOfSchemas<Validator, Result>>;
  <Result extends StandardSchemaV1 | undefined = undefined>(
    run: (call: MutatorCall<unknown, Tx, Context>) => Returned<Result>,
    docs?: MutatorDocs<unknown, Result>,
  ): Mutator<Tx, Context, TypesOfSchemas<undefined, Result>>;
}

/**
 * `defineMutator` for an application's own context and transaction types, named once:
 * `const defineMutator = mutatorFor<Context, Transaction>();`
 */
export function mutatorFor<Context extends UserContext, Tx = ClientBase>(): DefineMutator<Tx, Context> {
  type Run = Mutator<Tx, Context>['run'];
  return (
    first: StandardSchemaV1 | Run,
    second?: Run | MutatorDocs,
    third?: MutatorDocs,
  ): Mutator<Tx, Context, never> => {
    // A validator may be a function too (arktype's are): what tells them apart is the standard's own property.
    if ('~standard' in first) return { ...third, validator: first, run: second as Run };
    return { ...(second as MutatorDocs | undefined), validator: undefined, run: first };
  };
}

/** Defines a mutator whose `tx` is a `pg` client and whose `ctx` is the user's ID. */
export const defineMutator: DefineMutator<ClientBase, UserContext> = mutatorFor<UserContext>();

/** Mutators under their names, nested as the application likes: `{list: {create: …}}` names `list.create`. */
export interface MutatorTree<Tx = ClientBase, Context = UserContext> {
  readonly [name: string]: Mutator<Tx, Context> | MutatorTree<Tx, Context>;
}

/**
 * The registry: every mutator by its dot name. Names come from outside, so they are only ever looked up in this Map.
 */
export interface Mutators<Tx = ClientBase, Context = UserContext, Types = RegistryTypes>
  extends ReadonlyMap<string, Mutator<Tx, Context>> {
  readonly [types]?: Types;
}

/**
 * Collects an application's mutators, once. Keys may hold dots themselves: `{'list.create': …}`.
 * @throws SetupError that lists every name with an empty segment and every name defined twice.
 */
export function defineMutators<Tree extends object, Tx = unknown, Context = unknown>(
  tree: Tree & MutatorTree<Tx, Context>,
): Mutators<Tx, Context, TypesOfTree<Tree>> {
  const isMutator = (node: unknown): node is Mutator<Tx, Context> =>
    typeof node === 'object' && node !== null && 'run' in node && typeof node.run === 'function';
  const { leaves, faults } = collectLeaves(tree, isMutator, 'a mutator: wrap its function in defineMutator');
  if (faults.length > 0) throw new SetupError(`The mutators cannot be served: ${faults.join('; ')}.`);
  return leaves;
}
