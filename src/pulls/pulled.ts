/** What has been pulled, before it is written as a response. */
import type { Cookie } from '../protocol/cookie.js';
import type { KnownCookie } from '../window/known-cookies.js';
import type { PatchStream } from './patch-stream.js';

/** How a pull ends. */
export type Pulled =
  | Patched
  /** The caller has everything. Its cookie remains the right one. */
  | { readonly kind: 'unchanged'; readonly known: KnownCookie }
  /** A standby shows less than the caller has seen. */
  | { readonly kind: 'behind' }
  /** See `Plan`. */
  | { readonly kind: 'lost' };

/**
 * A new cookie, and what the caller lacks, as bytes, each op or row on a line of its own. `first` and `reset` hold all
 * data: the caller has none, or is to forget what it has.
 */
export interface Patched {
  readonly kind: 'delta' | 'first' | 'reset';
  readonly cookie: Cookie;
  readonly lastMutationIDChanges: Readonly<Record<string, number>>;
  /** The first part of the ops or rows. */
  readonly held: readonly Uint8Array[];
  /** The others. It is to be closed. */
  readonly more?: PatchStream | undefined;
}

/** The ops or rows of a patch, to the end. Closes what it reads from, even if it is not read to the end. */
export async function* linesIn({ held, more }: Pick<Patched, 'held' | 'more'>): AsyncGenerator<Uint8Array, undefined> {
  try {
    yield* held;
    if (more) yield* { [Symbol.asyncIterator]: () => more.ops };
  } finally {
    await more?.close();
  }
  return undefined;
}
