/** Statistics of the runs so far. */
import type { Outcome } from './client.js';

export interface Refusal {
  readonly isNeedless: boolean;
  /** The message without names. */
  readonly reason: string;
  readonly text: string;
}

export class Tally {
  cases = 0;
  /** Served views. */
  views = 0;
  /** Served views whose rows changed. */
  changed = 0;
  comparisons = 0;
  /** Comparisons with other rows than the previous one. */
  changes = 0;
  readonly pulls: Record<Outcome, number> = { first: 0, reset: 0, delta: 0, unchanged: 0 };
  readonly shared = {
    /** Deltas of shared statements, and the number of their cohorts that got ops. */
    statements: 0,
    cohorts: 0,
    /** Queries for affected cohorts, and the number of those affected. */
    queries: 0,
    affected: 0,
    /** Failed statements, for one cohort or for several. */
    failures: new Map<string, number>(),
  };
  /** Views that Postgres refuses, or whose rows have no keys. */
  readonly unusable = new Map<string, number>();
  /** Views whose comparison ended before the case did. */
  readonly ended = new Map<string, number>();
  readonly refusals = new Map<string, { count: number; isNeedless: boolean; text: string }>();
  /** Failed statements. */
  readonly failures = new Map<string, number>();
  statements = 0;

  refuse({ isNeedless, reason, text }: Refusal): void {
    const id = `${isNeedless ? 'needless' : 'right'}: ${reason}`;
    const previous = this.refusals.get(id);
    const isShorter = previous === undefined || text.length < previous.text.length;
    this.refusals.set(id, { count: (previous?.count ?? 0) + 1, isNeedless, text: isShorter ? text : previous.text });
  }

  /** The percentage of legal views that are refused. */
  get needlessPercent(): number {
    const needless = this.refused(true);
    return (100 * needless) / Math.max(1, needless + this.views);
  }

  refused(isNeedless: boolean): number {
    const refusals = [...this.refusals.values()].filter((refusal) => refusal.isNeedless === isNeedless);
    return refusals.reduce((sum, { count }) => sum + count, 0);
  }

  summary(): string {
    const { first, reset, delta, unchanged } = this.pulls;
    const { statements, cohorts, queries, affected } = this.shared;
    return [
      `${this.cases} schemas, ${this.views} views (${this.changed} with changes), ${this.comparisons} comparisons (${this.changes} of changed rows)`,
      `pulls: ${first} first, ${delta} deltas, ${unchanged} unchanged, ${reset} resets`,
      `shared: ${statements} deltas (ops for ${cohorts} cohorts), ${queries} queries (${affected} cohorts affected)`,
      `refused rightly ${this.refused(false)}, needlessly ${this.refused(true)} (${this.needlessPercent.toFixed(1)} %)`,
    ].join('; ');
  }
}

export function count(counts: Map<string, number>, reason: string): void {
  counts.set(reason, (counts.get(reason) ?? 0) + 1);
}
