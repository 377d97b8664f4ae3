/**
 * The types of the server's views and mutators, as far as the client needs them. They read properties that exist only at
 * compile time, whose names the package `tidemark` uses as well, so neither package imports the other.
 */

/** A view of the server. */
export interface AnyView {
  readonly query: (input: never) => unknown;
  readonly key: readonly string[];
  /** The type of a row as the client receives it. */
  readonly '~row'?: unknown;
  /** The type of the arguments; undefined if the view has none. */
  readonly '~args'?: unknown;
}

/** The type of a view's rows as the client receives them. */
export type RowOf<View> = View extends { readonly '~row'?: infer Row } ? Row : never;

/** The type of a view's arguments: `never` if it has none, and `unknown` if that is unknown. */
export type ViewArgs<View> = '~args' extends keyof View
  ? View extends { readonly '~args'?: infer Args }
    ? Exclude<Args, undefined>
    : never
  : never;

type TypesOf<Registry> = Registry extends { readonly '~types'?: infer All } ? NonNullable<All> : never;

/** The types of the args that callers send, by mutator name. */
export type ArgsOf<Registry> = {
  readonly [Name in keyof TypesOf<Registry>]: TypesOf<Registry>[Name] extends { readonly args: infer Args }
    ? Args
    : never;
};
