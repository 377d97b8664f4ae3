/** Compares what a client holds with the oracle's rows at the same snapshot. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import type { History } from './history.js';
import { fullRead, type Replica } from './replica.js';
import type { Report } from './report.js';
import type { SeenTransactions } from './snapshots.js';
import type { Holding, OracleView, Viewer } from './views.js';

export interface Holder {
  readonly name: string;
  /** The viewer whose views it holds. */
  readonly viewer: Viewer;
  readonly holding: Holding;
}

const checksToRemember = 500;

export class Judge {
  readonly views: readonly OracleView[];
  readonly #history: History;
  readonly #replica: Replica;
  readonly #report: Report;
  readonly #forgets: boolean;
  #turn: Promise<unknown> = Promise.resolve();
  /** The minimum that the latest responses showed. */
  readonly #minimums: SeenTransactions[] = [];

  /** @param forgets True to drop versions that responses can no longer show. Standbys may lag by any length of time. */
  constructor(
    views: readonly OracleView[],
    history: History,
    replica: Replica,
    { report, forgets }: { readonly report: Report; readonly forgets: boolean },
  ) {
    this.views = views;
    this.#history = history;
    this.#replica = replica;
    this.#report = report;
    this.#forgets = forgets;
  }

  /** The minimum that a response to a request sent now must show. */
  snapshot(): Promise<SeenTransactions> {
    return this.#history.snapshot();
  }

  /**
   * Checks a client whose cookie says that it holds this snapshot.
   *
   * @param before The minimum that it must show; undefined if a standby has responded.
   */
  async checkAt(client: Holder, seen: SeenTransactions, before: SeenTransactions | undefined): Promise<void> {
    await this.#compareAt(client, seen, before, 'view');
    if (this.#forgets) this.#forget(before ? seen.common(before) : seen);
  }

  /**
   * Checks a client that was told that nothing has changed for it since its cookie. It must hold the data at the time
   * of its request. The exception is a database that did not show everything that the cookie has seen yet, because a
   * standby was ahead. Its response says nothing.
   */
  async checkUnchanged(client: Holder, seen: SeenTransactions, before: SeenTransactions): Promise<void> {
    if (before.covers(seen)) await this.#compareAt(client, before, before, 'unchanged');
    else await this.checkAt(client, seen, undefined);
  }

  /** While no one writes: the client's rows, the oracle's history and the tables must all be equal. */
  async checkQuiet(client: Holder, database: Client): Promise<void> {
    const before = await this.snapshot();
    await this.#inTurn(async () => {
      await this.#history.readOn();
      await this.#replica.show(this.#history.stateAt(before));
      const there = await fullRead(database, this.views, client.viewer);
      const reconstructed = await this.#replica.holding(this.views, client.viewer);
      const ownDifference = firstDifference(there, reconstructed);
      if (ownDifference)
        this.#report.object('oracle', client.name, `the oracle's own history is wrong: ${ownDifference}`);
      const theirs = firstDifference(there, client.holding);
      if (theirs) this.#report.object('convergence', client.name, theirs);
      this.#report.counts.quiet++;
    });
  }

  async #compareAt(
    client: Holder,
    seen: SeenTransactions,
    before: SeenTransactions | undefined,
    rule: string,
  ): Promise<void> {
    const holding = new Map(client.holding);
    const { viewer } = client;
    await this.#inTurn(async () => {
      await this.#history.readOn();
      // A standby may show what the primary does not show yet.
      while (!this.#history.has(seen)) {
        await sleep(5);
        await this.#history.readOn();
      }
      const difference = await this.#differenceAt(viewer, holding, seen);
      if (difference) this.#report.object(rule, client.name, difference);
      if (!before || seen.covers(before)) return;
      // Transactions that ended before the pull and that the cookie does not cover must not matter to the client.
      const late = await this.#differenceAt(viewer, holding, seen.and(before));
      if (late) this.#report.object('stale', client.name, `${late}\nanswered ${seen.text}`);
    });
  }

  async #differenceAt(viewer: Viewer, holding: Holding, seen: SeenTransactions): Promise<string | undefined> {
    await this.#replica.show(this.#history.stateAt(seen));
    const expected = await this.#replica.holding(this.views, viewer);
    this.#report.counts.views += this.views.length;
    const difference = firstDifference(expected, holding);
    return difference && `${difference}\nsnapshot ${seen.text}`;
  }

  /**
   * @param minimum The minimum that a response with a new cookie has shown. Later responses show no less, nor do the
   *   snapshots that "unchanged" responses are compared with.
   */
  #forget(minimum: SeenTransactions): void {
    this.#minimums.push(minimum);
    if (this.#minimums.length < 2 * checksToRemember) return;
    this.#minimums.splice(0, checksToRemember);
    this.#history.forgetBefore(this.#minimums.reduce((all, one) => all.common(one)));
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#turn.then(work);
    this.#turn = result.catch(() => {});
    return result;
  }
}

function firstDifference(expected: Holding, actual: Holding): string | undefined {
  for (const [key, value] of expected) {
    const got = actual.get(key);
    if (got !== value) return `key ${JSON.stringify(key)}\nexpected ${value}\ngot      ${got ?? 'nothing'}`;
  }
  for (const [key, value] of actual) {
    if (!expected.has(key)) return `key ${JSON.stringify(key)}\nexpected nothing\ngot      ${value}`;
  }
  return undefined;
}
