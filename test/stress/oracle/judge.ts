/** Compares what a client holds with the oracle's view of the same snapshot. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import type { History } from './history.js';
import { fullRead, type Replica } from './replica.js';
import type { Report } from './report.js';
import type { Seen } from './snapshots.js';
import type { Holding, OracleView, Viewer } from './views.js';

export interface Held {
  readonly name: string;
  /** Whose views it holds. */
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
  /** What the latest answers showed at least. */
  readonly #shown: Seen[] = [];

  /** @param forgets what answers can no longer show; standbys may be behind by any length of time */
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

  /** What an answer must show at least when its request is sent now. */
  snapshot(): Promise<Seen> {
    return this.#history.snapshot();
  }

  /**
   * The client's cookie says that it holds this snapshot.
   *
   * @param before what it must show at least; nothing of what there is, where a standby has answered
   */
  async checkAt(client: Held, seen: Seen, before: Seen | undefined): Promise<void> {
    await this.#compareAt(client, seen, before, 'view');
    if (this.#forgets) this.#forget(before ? seen.common(before) : seen);
  }

  /**
   * The client was told that nothing has changed for it since its cookie: then it holds what there was when it asked.
   * Where the database that answered did not yet show all that the cookie has seen, which a standby was ahead with, it
   * was told nothing.
   */
  async checkUnchanged(client: Held, seen: Seen, before: Seen): Promise<void> {
    if (before.covers(seen)) await this.#compareAt(client, before, before, 'unchanged');
    else await this.checkAt(client, seen, undefined);
  }

  /**
   * While nobody writes: what the client holds, what the oracle makes of its history, and the tables, are all the same.
   */
  async checkQuiet(client: Held, database: Client): Promise<void> {
    const before = await this.snapshot();
    await this.#inTurn(async () => {
      await this.#history.readOn();
      await this.#replica.show(this.#history.stateAt(before));
      const there = await fullRead(database, this.views, client.viewer);
      const reconstructed = await this.#replica.holding(this.views, client.viewer);
      const own = firstDifference(there, reconstructed);
      if (own) this.#report.object('oracle', client.name, `the oracle's own history is wrong: ${own}`);
      const theirs = firstDifference(there, client.holding);
      if (theirs) this.#report.object('convergence', client.name, theirs);
      this.#report.counts.quiet++;
    });
  }

  async #compareAt(client: Held, seen: Seen, before: Seen | undefined, rule: string): Promise<void> {
    const held = new Map(client.holding);
    const { viewer } = client;
    await this.#inTurn(async () => {
      await this.#history.readOn();
      // A standby may show what the primary does not show yet.
      while (!this.#history.has(seen)) {
        await sleep(5);
        await this.#history.readOn();
      }
      const difference = await this.#differenceAt(viewer, held, seen);
      if (difference) this.#report.object(rule, client.name, difference);
      if (!before || seen.covers(before)) return;
      // What it does not name, but was over when the pull began, must be such as do not matter.
      const late = await this.#differenceAt(viewer, held, seen.and(before));
      if (late) this.#report.object('stale', client.name, `${late}\nanswered ${seen.text}`);
    });
  }

  async #differenceAt(viewer: Viewer, held: Holding, seen: Seen): Promise<string | undefined> {
    await this.#replica.show(this.#history.stateAt(seen));
    const expected = await this.#replica.holding(this.views, viewer);
    this.#report.counts.views += this.views.length;
    const difference = firstDifference(expected, held);
    return difference && `${difference}\nsnapshot ${seen.text}`;
  }

  /**
   * @param shown what an answer with a new cookie has shown at least. A later one shows no less; what the clients that
   * are told that nothing has changed are compared with, ends no lower.
   */
  #forget(shown: Seen): void {
    this.#shown.push(shown);
    if (this.#shown.length < 2 * checksToRemember) return;
    this.#shown.splice(0, checksToRemember);
    this.#history.forgetBefore(this.#shown.reduce((all, one) => all.common(one)));
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#turn.then(work);
    this.#turn = result.catch(() => {});
    return result;
  }
}

function firstDifference(expected: Holding, held: Holding): string | undefined {
  for (const [key, value] of expected) {
    const got = held.get(key);
    if (got !== value) return `key ${JSON.stringify(key)}\nexpected ${value}\ngot      ${got ?? 'nothing'}`;
  }
  for (const [key, value] of held) {
    if (!expected.has(key)) return `key ${JSON.stringify(key)}\nexpected nothing\ngot      ${value}`;
  }
  return undefined;
}
