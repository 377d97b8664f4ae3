/** What the runs so far have come to. */
import type { Outcome } from './client.js';

export interface Refusal {
  readonly isNeedless: boolean;
  /** The message without names. */
  readonly reason: string;
  readonly text: string;
}

export class Tally {
  cases = 0;
  /** Views that were served. */
  views = 0;
  /** Those of them whose rows changed. */
  changed = 0;
  comparisons = 0;
  /** Comparisons with other rows than the one before. */
  changes = 0;
  readonly pulls: Record<Outcome, number> = { first: 0, reset: 0, delta: 0, unchanged: 0 };
  readonly shared = {
    /** Deltas for several seats by one statement, and of the seats, those for which there were ops. */
    statements: 0,
    seats: 0,
    /** Questions which of several seats are affected, and how many were. */
    questions: 0,
    affected: 0,
    /** Statements that failed, for a seat alone or for several. */
    failures: new Map<string, number>(),
  };
  /** Views that Postgres refuses, or whose rows have no keys. */
  readonly unusable = new Map<string, number>();
  /** Views whose comparison ended before the case did. */
  readonly ended = new Map<string, number>();
  readonly refusals = new Map<string, { count: number; isNeedless: boolean; text: string }>();
  /** Statements that failed. */
  readonly failures = new Map<string, number>();
  statements = 0;

  refuse({ isNeedless, reason, text }: Refusal): void {
    const id = `${isNeedless ? 'needless' : 'right'}: ${reason}`;
    const known = this.refusals.get(id);
    const isShorter = known === undefined || text.length < known.text.length;
    this.refusals.set(id, { count: (known?.count ?? 0) + 1, isNeedless, text: isShorter ? text : known.text });
  }

  /** Of the views that are legal, how many in a hundred are refused. */
  get needlessPercent(): number {
    const needless = this.refused(true);
    return (100 * needless) / Math.max(1, needless + this.views);
  }

  refused(isNeedless: boolean): number {
    const found = [...this.refusals.values()].filter((refusal) => refusal.isNeedless === isNeedless);
    return found.reduce((sum, { count }) => sum + count, 0);
  }

  summary(): string {
    const { first, reset, delta, unchanged } = this.pulls;
    const { statements, seats, questions, affected } = this.shared;
    return [
      `${this.cases} schemas, ${this.views} views (${this.changed} with changes), ${this.comparisons} comparisons (${this.changes} of changed rows)`,
      `pulls: ${first} first, ${delta} deltas, ${unchanged} unchanged, ${reset} resets`,
      `shared: ${statements} deltas (ops for ${seats} seats), ${questions} questions (${affected} seats affected)`,
      `refused rightly ${this.refused(false)}, needlessly ${this.refused(true)} (${this.needlessPercent.toFixed(1)} %)`,
    ].join('; ');
  }
}

export function count(counts: Map<string, number>, reason: string): void {
  counts.set(reason, (counts.get(reason) ?? 0) + 1);
}
