/** The types of a registry's mutators: their names, args and results. */
import type { StandardSchemaV1 } from '@standard-schema/spec';

/** The types of one mutator. */
export interface MutatorTypes {
  /** The args that a caller sends. */
  readonly args: unknown;
  /** The validator's output. */
  readonly validArgs: unknown;
  /** The result that a REST caller receives; `unknown` if the mutator has no `result` schema. */
  readonly result: unknown;
}

/** The types of a registry's mutators, by their names. */
export type RegistryTypes = Readonly<Record<string, MutatorTypes>>;

/** The type that a mutator's function must return: with a `result` schema, the schema's input. */
export type Returned<Result> = Result extends StandardSchemaV1
  ? StandardSchemaV1.InferInput<Result> | Promise<StandardSchemaV1.InferInput<Result>>
  : unknown;

/** The types of a mutator that is defined with these schemas. */
export interface TypesOfSchemas<Validator, Result> extends MutatorTypes {
  readonly args: Validator extends StandardSchemaV1 ? StandardSchemaV1.InferInput<Validator> : unknown;
  readonly validArgs: Validator extends StandardSchemaV1 ? StandardSchemaV1.InferOutput<Validator> : unknown;
  readonly result: Result extends StandardSchemaV1 ? StandardSchemaV1.InferOutput<Result> : unknown;
}

/** The types of a tree's mutators, by their dotted names. */
export type TypesOfTree<Tree> = Merged<FunctionsOf<Tree>>;

interface Leaf<Types> {
  readonly run: (call: never) => unknown;
  readonly '~types'?: Types;
}

/** A union of functions that each take the types of one mutator. Their common argument has the types of all. */
type FunctionsOf<Tree, Prefix extends string = ''> = {
  [Key in keyof Tree & string]: Tree[Key] extends Leaf<infer Types>
    ? (types: { readonly [Name in `${Prefix}${Key}`]: Types }) => void
    : FunctionsOf<Tree[Key], `${Prefix}${Key}.`>;
}[keyof Tree & string];

type Merged<Functions> = [Functions] extends [(types: infer All) => void]
  ? { readonly [Name in keyof All]: All[Name] }
  : never;

/** The types of all mutators of a registry, by their names; without names if the registry has no types. */
export type TypesOf<Registry> = Registry extends { readonly '~types'?: infer All } ? NonNullable<All> : never;

type Part<Registry, Of extends keyof MutatorTypes> = {
  readonly [Name in keyof TypesOf<Registry>]: TypesOf<Registry>[Name] extends MutatorTypes
    ? TypesOf<Registry>[Name][Of]
    : never;
};

/** The types of the args that callers send, by mutator name: `ArgsOf<typeof mutators>['todo.create']`. */
export type ArgsOf<Registry> = Part<Registry, 'args'>;

/** The types of the validators' outputs, by mutator name. */
export type ValidArgsOf<Registry> = Part<Registry, 'validArgs'>;

/** The types of the results that REST callers receive, by mutator name; `unknown` without a `result` schema. */
export type ResultsOf<Registry> = Part<Registry, 'result'>;
