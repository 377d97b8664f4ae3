/** Compares clients with the views' rows, and detects results that depend on chance. */
import { isDeepStrictEqual } from 'node:util';
import type { Client } from 'pg';
import type { FuzzClient } from './client.js';
import type { CaseDatabase } from './database.js';
import { Difference, type DifferenceKind } from './difference.js';
import { type Rows, users } from './expected.js';
import { freshRows, ofView, plannerClients, planners } from './fresh.js';
import type { ServingOptions } from './serving.js';
import type { Tally } from './tally.js';
import { marksOf } from './tree.js';
import type { Truth } from './truth.js';
import type { FuzzView } from './view.js';
import { takesArgs } from './wants.js';

export interface JudgeParts {
  readonly truth: Truth;
  readonly database: CaseDatabase;
  readonly serving: ServingOptions;
  readonly tally: Tally;
}

export class Judge {
  readonly #parts: JudgeParts;
  readonly #last = new Map<string, Rows>();
  readonly #changed = new Set<string>();
  #planners: Promise<readonly Client[]> | undefined;

  constructor(parts: JudgeParts) {
    this.#parts = parts;
  }

  /**
   * @param kind The kind of difference to throw if the client does not hold the views' rows.
   * @throws Difference in that case
   */
  async compare(client: FuzzClient, kind: DifferenceKind = 'rows'): Promise<void> {
    const { truth } = this.#parts;
    for (const view of truth.views) {
      const expected = await this.#expected(view, client);
      if (!expected) continue;
      this.#note(view, client.user, expected);
      const rows = ofView(client.rows, view);
      if (isDeepStrictEqual(rows, expected)) continue;
      // If the result depends on the plan, the library makes it deterministic.
      const correct = (await this.#isUncertainFor(view, client)) ? await this.#readAgain(view, client) : expected;
      if (!isDeepStrictEqual(rows, correct)) throw new Difference(kind, describe(rows, correct), view);
    }
  }

  /** The rows of a view, or of the instances that a client wants; undefined if the view is not compared any more. */
  async #expected(view: FuzzView, client: FuzzClient): Promise<Rows | undefined> {
    const { truth } = this.#parts;
    const joined = new Map<string, unknown>();
    for (const user of this.#valuesFor(view, client)) {
      const rows = await truth.rows(view, user, client.user);
      if (!rows) return undefined;
      for (const [key, value] of rows) {
        if (joined.has(key) && !isDeepStrictEqual(joined.get(key), value)) {
          truth.forget(view, 'the value of a row depends on the arguments');
          return undefined;
        }
        joined.set(key, value);
      }
    }
    return joined;
  }

  /** The users whose values a client's rows of a view are read with. */
  #valuesFor(view: FuzzView, { user, wanted }: FuzzClient): readonly number[] {
    return this.#parts.serving.hasInstances && takesArgs(view) ? wanted : [user];
  }

  #note(view: FuzzView, user: number, rows: Rows): void {
    const { tally } = this.#parts;
    tally.comparisons++;
    const id = `${user} ${view.name}`;
    const last = this.#last.get(id);
    this.#last.set(id, rows);
    if (!last || last === rows || isDeepStrictEqual(last, rows)) return;
    tally.changes++;
    if (!this.#changed.has(view.name)) tally.changed++;
    this.#changed.add(view.name);
  }

  async #isUncertainFor(view: FuzzView, client: FuzzClient): Promise<boolean> {
    for (const user of this.#valuesFor(view, client)) if (await this.#isUncertain(view, user)) return true;
    return false;
  }

  async #isUncertain(view: FuzzView, user: number): Promise<boolean> {
    if (marksOf(view.tree).some(({ kind }) => kind === 'chance')) return true;
    const { truth, database } = this.#parts;
    const expected = await truth.rows(view, user);
    this.#planners ??= plannerClients(database);
    for (const client of await this.#planners) {
      const rows = await truth.readBy(client, view, user);
      if (rows && expected && !isDeepStrictEqual(rows, expected)) return true;
    }
    return false;
  }

  async #readAgain(view: FuzzView, { user, wanted }: FuzzClient): Promise<Rows> {
    return (await freshRows(this.#parts.serving, [view], [], wanted))[user]!;
  }

  /**
   * Reads potentially nondeterministic results in several ways.
   * @param reorder Changes the physical order of the tables' rows.
   * @throws Difference if the same data is read differently
   */
  async checkChance(reorder: () => Promise<void>): Promise<void> {
    const { serving, truth } = this.#parts;
    const uncertain: FuzzView[] = [];
    for (const view of truth.views) if (await this.#isUncertainForAny(view)) uncertain.push(view);
    if (uncertain.length === 0) return;
    const first = await freshRows(serving, uncertain);
    for (const settings of planners) {
      compareReads(uncertain, first, await freshRows(serving, uncertain, settings), `with ${settings.join(', ')}`);
    }
    await reorder();
    compareReads(uncertain, first, await freshRows(serving, uncertain), 'with the rows of the tables in another order');
  }

  async #isUncertainForAny(view: FuzzView): Promise<boolean> {
    for (const user of users) {
      if ((await this.#parts.truth.rows(view, user)) && (await this.#isUncertain(view, user))) return true;
    }
    return false;
  }
}

/** @throws Difference if the same data is read differently */
function compareReads(views: readonly FuzzView[], first: readonly Rows[], again: readonly Rows[], how: string): void {
  for (const view of views) {
    for (const user of users) {
      const [before, after] = [ofView(first[user]!, view), ofView(again[user]!, view)];
      if (!isDeepStrictEqual(before, after)) {
        throw new Difference('chance', `${how}:\n${describe(after, before)}`, view);
      }
    }
  }
}

const maxKeys = 4;

function describe(rows: Rows, expected: Rows): string {
  const keys = [...new Set([...rows.keys(), ...expected.keys()])].filter(
    (key) => !isDeepStrictEqual(rows.get(key), expected.get(key)),
  );
  const of = (one: Rows, key: string) => (one.has(key) ? stringify(one.get(key)) : 'nothing');
  const lines = keys
    .slice(0, maxKeys)
    .map((key) => `  ${key}\n    held:      ${of(rows, key)}\n    full read: ${of(expected, key)}`);
  if (keys.length > maxKeys) lines.push(`  and ${keys.length - maxKeys} more`);
  return lines.join('\n');
}

/** JSON that preserves the sign of zero. */
function stringify(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => (Object.is(part, -0) ? '-0' : part));
}
