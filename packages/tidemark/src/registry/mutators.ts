import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { ClientBase } from 'pg';
import type { UserContext } from '../context.js';
import { SetupError } from '../errors.js';
import { collectLeaves } from './tree.js';
import type { MutatorTypes, RegistryTypes, Returned, TypesOfSchemas, TypesOfTree } from './types.js';

/** The argument of a mutator's function. */
export interface MutatorCall<Args, Tx, Context> {
  /** The open transaction. A sync client's lastMutationID is committed with it. */
  readonly tx: Tx;
  /** The args: the validator's output, or the JSON value as it was sent if there is no validator. */
  readonly args: Args;
  /** The caller, as `authenticate` returned it. */
  readonly ctx: Context;
  /** The browser profile that sent the mutation, as views receive it; undefined for a call over REST. */
  readonly profileID?: string | undefined;
  /** The schema version of the client that sent the mutation; undefined for a call over REST. */
  readonly schemaVersion?: string | undefined;
}

/** The documentation of a mutator in the OpenAPI document. */
export interface MutatorDocs<Args = unknown, Result = StandardSchemaV1 | undefined> {
  /** A few words. Default: made from the mutator's name. */
  readonly summary?: string | undefined;
  /** Markdown. Default: made from the mutator's name. */
  readonly description?: string | undefined;
  /** Example args to show and to try, each under a short description. Default: none. */
  readonly examples?: Readonly<Record<string, Args>> | undefined;
  /** The schema of the mutator's result. A REST caller receives the schema's output. Default: none. */
  readonly result?: Result | undefined;
  /** Marks the mutator as deprecated. Default false. */
  readonly deprecated?: boolean | undefined;
}

/** A mutator as plain data. */
export interface Mutator<Tx = ClientBase, Context = UserContext, Types = MutatorTypes> extends MutatorDocs {
  /** Checks the args; undefined accepts all. */
  readonly validator: StandardSchemaV1 | undefined;
  /** The mutator's function. Takes args that the validator accepted: its output, unless `validates` is set. */
  readonly run: (call: MutatorCall<unknown, Tx, Context>) => unknown;
  /** True if `run` validates the args itself, and takes them as they were sent. Default false. */
  readonly validates?: boolean | undefined;
  /** For the compiler: no object has this property. The client's package knows it by this name. */
  readonly '~types'?: Types;
}

/** Defines a mutator, with or without a Standard Schema validator (zod, valibot, arktype and others) for its args. */
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
 * Returns a `defineMutator` for an application's own context and transaction types, which are then named only once:
 * `const defineMutator = mutatorFor<Context, Transaction>();`
 */
export function mutatorFor<Context extends UserContext, Tx = ClientBase>(): DefineMutator<Tx, Context> {
  type Run = Mutator<Tx, Context>['run'];
  return (
    first: StandardSchemaV1 | Run,
    second?: Run | MutatorDocs,
    third?: MutatorDocs,
  ): Mutator<Tx, Context, never> => {
    // A validator can be a function too, as in arktype, so the standard's own property distinguishes them.
    if ('~standard' in first) return { ...third, validator: first, run: second as Run };
    return { ...(second as MutatorDocs | undefined), validator: undefined, run: first };
  };
}

/** Defines a mutator whose `tx` is a `pg` client and whose `ctx` is a plain `UserContext`. */
export const defineMutator: DefineMutator<ClientBase, UserContext> = mutatorFor<UserContext>();

/** Mutators by their names, nested to any depth: `{list: {create: …}}` is the mutator `list.create`. */
export interface MutatorTree<Tx = ClientBase, Context = UserContext> {
  readonly [name: string]: Mutator<Tx, Context> | MutatorTree<Tx, Context>;
}

/** The registry: every mutator by its dotted name. Names come from clients, so they are looked up only in this Map. */
export interface Mutators<Tx = ClientBase, Context = UserContext, Types = RegistryTypes>
  extends ReadonlyMap<string, Mutator<Tx, Context>> {
  /** For the compiler: no object has this property. The client's package knows it by this name. */
  readonly '~types'?: Types;
}

/**
 * Collects an application's mutators. Keys may contain dots: `{'list.create': …}`.
 * @throws SetupError that lists all names with an empty segment, all duplicate names, and all entries that are not
 * mutators.
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
