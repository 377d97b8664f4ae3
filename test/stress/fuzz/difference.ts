/** Where the code under test is wrong. */
import type { FuzzView } from './view.js';

export type DifferenceKind =
  /** A client holds other rows than a full read gives. */
  | 'rows'
  /** What a full read gives depends on the plan. */
  | 'chance'
  /** A view is served that must be refused. */
  | 'accepted'
  /** A view is refused that is legal. */
  | 'refused'
  | 'failed pull'
  /** A delta could not be computed, and the client was reset. */
  | 'failed delta'
  /** An audit finds that a client does not hold what it does. */
  | 'audit'
  /** The server does not start, and no view is why. */
  | 'setup'
  /** A listener was not told of a change. */
  | 'missed poke'
  /** Of a statement that seats share, one gets something else than of a statement of its own. */
  | 'seats';

export class Difference extends Error {
  readonly kind: DifferenceKind;
  readonly view: FuzzView | undefined;

  constructor(kind: DifferenceKind, detail: string, view?: FuzzView) {
    super(detail);
    this.kind = kind;
    this.view = view;
  }
}

/** A case that says nothing: its schema cannot be made. */
export class InvalidCase extends Error {}
