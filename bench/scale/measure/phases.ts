/** The measured phases. Each repeats one operation. */
import type { Usage } from './meter.js';

export type PhaseName =
  | 'idle'
  | 'push'
  | 'push, one by one'
  | 'rows written'
  | 'first pull, few rows'
  | 'first pull, many rows'
  | 'unchanged pull, one by one'
  | 'unchanged pull, together'
  | 'open streams'
  | 'hold streams'
  | 'few cohorts, one poke'
  | 'many cohorts, one poke'
  | 'many cohorts, many rows'
  | 'few cohorts, all poked'
  | 'few cohorts, one pull'
  | 'few cohorts, all pull';

export interface Phase extends Usage {
  readonly name: PhaseName;
  readonly repetitions: number;
  readonly statements: Statements;
}

/** The number of statements of each kind on the database that serves reads, and of one kind on the primary. */
export interface Statements {
  /** Polls of the change log. */
  readonly polls: number;
  /** Polls of the primary while a standby serves reads. */
  readonly primaryPolls: number;
  /** Queries for affected cohorts: one for each poll that finds changes. */
  readonly cohortQueries: number;
  /** Small deltas. */
  readonly deltas: number;
}

/** The sizes of the phases, by the names of the phases. */
export interface Design {
  /** Each subscriber has its own cohort and its own stream. A write affects one of them, or all of the few. */
  readonly subscribers: { readonly few: number; readonly many: number };
  /** The number of rows that each transaction changes in the phases with many. */
  readonly changedRows: number;
  readonly firstRows: { readonly few: number; readonly many: number };
}
