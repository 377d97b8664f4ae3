/** A way in which the code under test is wrong. */
import type { FuzzView } from './view.js';

export type DifferenceKind =
  /** A client's rows differ from those of a full read. */
  | 'rows'
  /** The result of a full read depends on the plan. */
  | 'chance'
  /** A view is served that must be refused. */
  | 'accepted'
  /** A legal view is refused. */
  | 'refused'
  | 'failed pull'
  /** A delta could not be computed, and the client was reset. */
  | 'failed delta'
  /** A consistency check reports a difference that does not exist. */
  | 'consistency check'
  /** The server does not start, and no view is the reason. */
  | 'setup'
  /** A subscriber was not poked about a change. */
  | 'missed poke'
  /** A shared statement yields something else for a cohort than a statement of its own. */
  | 'cohorts';

export class Difference extends Error {
  readonly kind: DifferenceKind;
  readonly view: FuzzView | undefined;

  constructor(kind: DifferenceKind, detail: string, view?: FuzzView) {
    super(detail);
    this.kind = kind;
    this.view = view;
  }
}

/** A meaningless case: its schema cannot be created. */
export class InvalidCase extends Error {}
