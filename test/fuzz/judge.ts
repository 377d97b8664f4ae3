/** Compares what clients hold with what the views hold, and finds out what is left to chance. */
import { isDeepStrictEqual } from 'node:util';
import type { Client } from 'pg';
import { FuzzClient } from './client.js';
import type { CaseDatabase } from './database.js';
import { Difference, type DifferenceKind } from './difference.js';
import { type Rows, users } from './expected.js';
import { type ServingOptions, serve } from './serving.js';
import type { Tally } from './tally.js';
import type { Truth } from './truth.js';
import type { FuzzView } from './view.js';

/** Ways to plan that give rows in other orders. */
const planners: readonly (readonly string[])[] = [
  ['enable_hashagg=off', 'enable_hashjoin=off', 'enable_nestloop=off', 'enable_material=off'],
  [
    'enable_sort=off',
    'enable_mergejoin=off',
    'enable_indexscan=off',
    'enable_indexonlyscan=off',
    'enable_bitmapscan=off',
  ],
  ['enable_seqscan=off', 'enable_hashjoin=off', 'enable_mergejoin=off', 'enable_hashagg=off'],
];

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
   * @param kind what it is called where the client does not hold what its views do
   * @throws Difference there
   */
  async compare(client: FuzzClient, kind: DifferenceKind = 'rows'): Promise<void> {
    const { truth, tally } = this.#parts;
    for (const view of truth.views) {
      const expected = await truth.rows(view, client.user);
      if (!expected) continue;
      tally.comparisons++;
      const id = `${client.user} ${view.name}`;
      const last = this.#last.get(id);
      if (last && last !== expected && !isDeepStrictEqual(last, expected)) {
        tally.changes++;
        if (!this.#changed.has(view.name)) tally.changed++;
        this.#changed.add(view.name);
      }
      this.#last.set(id, expected);
      const held = heldOf(client, view);
      if (isDeepStrictEqual(held, expected)) continue;
      if (await this.#isMadeCertain(view, client.user, held)) continue;
      throw new Difference(kind, describe(held, expected), view);
    }
  }

  /** Whether the plan decides what a full read gives, and the library has decided for it, as the client holds. */
  async #isMadeCertain(view: FuzzView, user: number, held: Rows): Promise<boolean> {
    if (!(await this.#variesDirectly(view, user))) return false;
    await this.#checkReads(view, user);
    const fresh = await this.#freshRead(view, user, []);
    if (isDeepStrictEqual(fresh, held)) return true;
    throw new Difference('rows', describe(held, fresh), view);
  }

  /** @throws Difference where the same data are told in several ways */
  async checkChance(): Promise<void> {
    const { truth } = this.#parts;
    for (const view of truth.views) {
      for (const user of users) if (await this.#variesDirectly(view, user)) await this.#checkReads(view, user);
    }
  }

  async #variesDirectly(view: FuzzView, user: number): Promise<boolean> {
    const { truth } = this.#parts;
    const expected = await truth.rows(view, user);
    for (const client of await this.#plannerClients()) {
      const rows = await truth.readBy(client, view, user);
      if (rows && expected && !isDeepStrictEqual(rows, expected)) return true;
    }
    return false;
  }

  #plannerClients(): Promise<readonly Client[]> {
    this.#planners ??= Promise.all(
      planners.map(async (settings) => {
        const client = await this.#parts.database.connect();
        for (const setting of settings) await client.query(`set ${setting}`);
        return client;
      }),
    );
    return this.#planners;
  }

  async #checkReads(view: FuzzView, user: number): Promise<void> {
    const first = await this.#freshRead(view, user, []);
    for (const settings of planners) {
      const other = await this.#freshRead(view, user, settings);
      if (!isDeepStrictEqual(first, other)) {
        throw new Difference('chance', `with ${settings.join(', ')}:\n${describe(other, first)}`, view);
      }
    }
  }

  /** What a new client is told. */
  async #freshRead(view: FuzzView, user: number, settings: readonly string[]): Promise<Rows> {
    const { sync, pool } = await serve(this.#parts.serving, [view], settings);
    const client = new FuzzClient(user, 'fresh');
    await client.pull(sync);
    await sync.close();
    await pool.end();
    return client.rows;
  }
}

function heldOf(client: FuzzClient, view: FuzzView): Rows {
  return new Map([...client.rows].filter(([key]) => key.startsWith(`${view.name}/`)));
}

const shown = 4;

function describe(held: Rows, expected: Rows): string {
  const keys = [...new Set([...held.keys(), ...expected.keys()])].filter(
    (key) => !isDeepStrictEqual(held.get(key), expected.get(key)),
  );
  const of = (rows: Rows, key: string) => (rows.has(key) ? JSON.stringify(rows.get(key)) : 'nothing');
  const lines = keys
    .slice(0, shown)
    .map((key) => `  ${key}\n    held:      ${of(held, key)}\n    full read: ${of(expected, key)}`);
  if (keys.length === 0) lines.push('  the same as JSON, but for the sign of a zero');
  if (keys.length > shown) lines.push(`  and ${keys.length - shown} more`);
  return lines.join('\n');
}
