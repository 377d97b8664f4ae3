/** What the types of a registry say of its mutators: their names, and what each takes and returns. */
import type { StandardSchemaV1 } from '@standard-schema/spec';

/** Where types are carried: nothing is ever kept under it. */
export declare const types: unique symbol;

/** The types of one mutator. */
export interface MutatorTypes {
  /** What a caller sends. */
  readonly args: unknown;
  /** What the validator makes of it. */
  readonly validArgs: unknown;
  /** What a REST caller is sent; `unknown` where the mutator has no `result` schema. */
  readonly result: unknown;
}

/** By the mutators' names. */
export type RegistryTypes = Readonly<Record<string, MutatorTypes>>;

/** What a mutator's function may return: with a `result` schema, what that takes. */
export type Returned<Result> = Result extends StandardSchemaV1
  ? StandardSchemaV1.InferInput<Result> | Promise<StandardSchemaV1.InferInput<Result>>
  : unknown;

/** The types of a mutator that is defined with such schemas. */
export interface TypesOfSchemas<Validator, Result> extends MutatorTypes {
  readonly args: Validator extends StandardSchemaV1 ? StandardSchemaV1.InferInput<Validator> : unknown;
  readonly validArgs: Validator extends StandardSchemaV1 ? StandardSchemaV1.InferOutput<Validator> : unknown;
  readonly result: Result extends StandardSchemaV1 ? StandardSchemaV1.InferOutput<Result> : unknown;
}

/** The types of a tree's mutators, by their dot names. */
export type TypesOfTree<Tree> = Merged<FunctionsOf<Tree>>;

interface Leaf<Types> {
  readonly run: (call: never) => unknown;
  readonly [types]?: Types;
}

/** Functions that take the types of one mutator each: what can be passed to all of them has the types of all. */
type FunctionsOf<Tree, Prefix extends string = ''> = {
  [Key in keyof Tree & string]: Tree[Key] extends Leaf<infer Types>
    ? (types: { readonly [Name in `${Prefix}${Key}`]: Types }) => void
    : FunctionsOf<Tree[Key], `${Prefix}${Key}.`>;
}[keyof Tree & string];

type Merged<Functions> = [Functions] extends [(types: infer All) => void]
  ? { readonly [Name in keyof All]: All[Name] }
  : never;

type TypesOf<Registry> = Registry extends { readonly [types]?: infer All } ? NonNullable<All> : never;

type Part<Registry, Of extends keyof MutatorTypes> = {
  readonly [Name in keyof TypesOf<Registry>]: TypesOf<Registry>[Name] extends MutatorTypes
    ? TypesOf<Registry>[Name][Of]
    : never;
};

/** What callers send, by the mutators' names: `ArgsOf<typeof mutators>['todo.create']`. */
export type ArgsOf<Registry> = Part<Registry, 'args'>;

/** What the validators make of that, by the mutators' names. */
export type ValidArgsOf<Registry> = Part<Registry, 'validArgs'>;

/** What REST callers are sent, by the mutators' names; `unknown` where a mutator has no `result` schema. */
export type ResultsOf<Registry> = Part<Registry, 'result'>;
