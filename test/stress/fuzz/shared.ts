/** Statements that several seats share: what one yields for a seat is what a statement for that seat alone yields. */
import { isDeepStrictEqual } from 'node:util';
import type { Database } from '../../../src/db/database.js';
import { isCancelled } from '../../../src/db/sqlstate.js';
import type { Bound, CurrentInstallation } from '../../../src/installation/current-installation.js';
import type { Snapshot } from '../../../src/protocol/snapshot.js';
import type { DeltaReader, Patch } from '../../../src/pulls/reader.js';
import type { TableChanges } from '../../../src/store/patches/patch-sql.js';
import type { KnownCookie } from '../../../src/window/known-cookies.js';
import { silent } from '../../support/log.js';
import type { Code } from '../oracle/code.js';
import type { CaseDatabase } from './database.js';
import { Difference } from './difference.js';
import { places, userAt, valuesFor } from './seats.js';
import { type Context, toViews } from './serving.js';
import { count, type Tally } from './tally.js';
import type { Truth } from './truth.js';
import { type FuzzView, textOfView } from './view.js';

/** Ways to plan. A plan that is made for all values is the one that a server comes to use. */
export const plans: readonly (readonly string[])[] = [
  [],
  ['plan_cache_mode=force_generic_plan'],
  ['enable_hashjoin=off', 'enable_mergejoin=off', 'enable_material=off'],
  ['enable_nestloop=off', 'enable_material=off', 'plan_cache_mode=force_generic_plan'],
  ['enable_hashjoin=off', 'enable_nestloop=off', 'enable_hashagg=off'],
  ['enable_seqscan=off', 'enable_memoize=off', 'join_collapse_limit=1', 'from_collapse_limit=1'],
];

const timeoutMs = 5_000;

interface Op {
  readonly op: string;
  readonly key: string;
}

/** A seat that can be served alone, and what it is told then. */
interface Told {
  readonly place: number;
  readonly asked: DeltaReader;
  readonly ops: readonly Op[];
}

export interface SharedParts {
  readonly code: Code;
  readonly database: CaseDatabase;
  readonly truth: Truth;
  readonly tally: Tally;
}

export class SharedStatements {
  readonly #parts: SharedParts;
  readonly #plain: Database;
  readonly #planned = new Map<number, Database>();
  #installation: CurrentInstallation<Context> | undefined;
  #base: Snapshot | undefined;

  constructor(parts: SharedParts) {
    this.#parts = parts;
    this.#plain = this.#open([]);
  }

  /** Starts anew with the views that are compared. */
  async start(): Promise<void> {
    const { CurrentInstallation, ClientViews, readTail } = this.#parts.code;
    const views = new ClientViews(this.#plain, toViews(this.#parts.truth.views));
    this.#installation = new CurrentInstallation(this.#plain, views);
    this.#base = (await readTail(this.#plain, undefined, [])).snapshot;
  }

  /**
   * Asks for what has changed since the last time, or the start.
   * @throws Difference where a seat is told something else than when it asks alone
   */
  async compare(plan: number): Promise<void> {
    const { code } = this.#parts;
    const base = this.#base!;
    const bound = await Promise.all(places.map((place) => this.#bind(place)));
    const { tables, tableIDs } = bound[0]!.installation;
    const { snapshot, changes } = await code.readTail(this.#plain, base, tableIDs);
    this.#base = snapshot;
    // Nothing is computed from a log that lacks what was truncated.
    if (changes.some(({ truncated }) => truncated)) return;
    const changed = changes.map(({ table, rows }) => [table, rows] as const);
    const own = code.changesOf(tables, new Map(changed));
    const asked = bound[0]!.views.flatMap(({ view, literals }, i) =>
      view.seated && literals.length > 0 && ofView(own, view).length > 0 ? [i] : [],
    );
    if (asked.length === 0) return;
    // It is asked only for its snapshot.
    const known = { cookie: { parsedSnapshot: base } } as KnownCookie;
    const readers = bound.map((whole, place): DeltaReader => {
      const { views, formDigest } = whole;
      const part = { ...whole, views: asked.map((i) => views[i]!), formDigest: `${formDigest} ${asked.join()}` };
      const member = { clientGroupID: `group ${place}`, sameGroup: true, clientID: undefined };
      const caller = { context: { userID: userAt(place) }, requestID: '', log: silent };
      return { reader: new code.Reader(part, caller, known, 'no', member), changed };
    });
    const db = this.#planned.get(plan) ?? this.#open([...plans[plan]!, `statement_timeout=${timeoutMs}`]);
    this.#planned.set(plan, db);
    const told = await this.#tellEach(db, readers);
    if (told.length < 2) return;
    await this.#compareOps(db, told, plan);
    await this.#compareAffected(db, told, own, plan);
  }

  #open(settings: readonly string[]): Database {
    return this.#parts.code.openPool(this.#parts.database.openPool(settings));
  }

  #bind(place: number): Promise<Bound> {
    return this.#installation!.bind({ ctx: { userID: userAt(place) }, profileID: 'p', schemaVersion: '' });
  }

  /** Each alone. A query may fail with the values of one who is no user. */
  async #tellEach(db: Database, readers: readonly DeltaReader[]): Promise<Told[]> {
    const told: Told[] = [];
    for (const [place, asked] of readers.entries()) {
      const patch = await this.#attempt(() => new this.#parts.code.SeatedReads(db, () => undefined).delta(asked));
      if (patch && !patch.torn) told.push({ place, asked, ops: opsOf(patch) });
    }
    return told;
  }

  async #attempt<T>(read: () => Promise<T>): Promise<T | undefined> {
    try {
      return await read();
    } catch (error) {
      count(this.#parts.tally.shared.failures, (error as Error).message.replace(/"[^"]*"/g, '"…"'));
      return undefined;
    }
  }

  async #compareOps(db: Database, told: readonly Told[], plan: number): Promise<void> {
    const { code, tally } = this.#parts;
    let statements = 0;
    const counted: Database = {
      ...db,
      query: (statement) => {
        statements++;
        return db.query(statement);
      },
    };
    const reads = new code.SeatedReads(counted, () => undefined);
    const patches: (Patch | undefined)[] = await Promise.all(told.map(({ asked }) => reads.delta(asked))).catch(
      (error: Error) => {
        if (isCancelled(error)) return [];
        const { views } = told[0]!.asked.reader;
        const name = views.length === 1 ? views[0]!.view.name : undefined;
        throw this.#difference(name, told[0]!.place, told, plan, [`  together: ${error.message}`]);
      },
    );
    // So much has changed that it is not told in this way.
    if (patches.length === 0 || patches.includes(undefined)) return;
    if (statements !== 1) throw new Error(`${told.length} seats did not share one statement, but ran ${statements}`);
    tally.shared.statements++;
    for (const [i, patch] of patches.entries()) {
      const { place, asked, ops } = told[i]!;
      if (ops.length > 0) tally.shared.seats++;
      const shared = opsOf(patch!);
      if (isDeepStrictEqual(shared, ops)) continue;
      const concerned = asked.reader.views.find(
        ({ view }) => !isDeepStrictEqual(opsIn(shared, view), opsIn(ops, view)),
      )!;
      const lines = [`  together: ${JSON.stringify(opsIn(shared, concerned.view))}`];
      lines.push(`  alone:    ${JSON.stringify(opsIn(ops, concerned.view))}`);
      throw this.#difference(concerned.view.name, place, told, plan, lines);
    }
  }

  /** Whom to poke. Who is told nothing is not; who is told something may be told what they hold. */
  async #compareAffected(
    db: Database,
    told: readonly Told[],
    changes: readonly TableChanges[],
    plan: number,
  ): Promise<void> {
    const { code, tally } = this.#parts;
    for (const [i, { view }] of told[0]!.asked.reader.views.entries()) {
      const own = ofView(changes, view);
      const { base } = told[0]!.asked.reader;
      const ask = (some: readonly Told[], mode: 'net' | 'ever') => {
        const seats = some.map(({ asked }) => asked.reader.views[i]!);
        return this.#attempt(() => code.findAffected(db, { view, seats, mode, timeoutMs }, own, base));
      };
      // A view that several seats cannot read is only asked about by what was touched.
      const ever = await ask(told, 'ever');
      const together = view.seated ? await ask(told, 'net') : ever;
      if (!together || !ever) continue;
      tally.shared.questions++;
      for (const [seat, one] of told.entries()) {
        const isTold = opsIn(one.ops, view).length > 0;
        const alone = isTold && view.seated ? await ask([one], 'net') : [];
        if (!alone) continue;
        const [is, may] = [together.includes(seat), ever.includes(seat)];
        const should = view.seated ? alone.length > 0 : isTold;
        if (should) tally.shared.affected++;
        if (view.seated ? is === should && (may || !should) : may || !should) continue;
        const lines = [`  affected together: ${is}, or ever: ${may}; alone: ${should}`];
        throw this.#difference(view.name, one.place, told, plan, lines);
      }
    }
  }

  #difference(
    name: string | undefined,
    place: number,
    told: readonly Told[],
    plan: number,
    lines: readonly string[],
  ): Difference {
    const view = this.#parts.truth.views.find((one) => one.name === name);
    const seats = told.map((one) => `  seat ${one.place}: ${view ? valuesAt(view, one.place) : ''}`);
    const settings = plans[plan]!.join(', ') || 'no settings';
    return new Difference('seats', [`Seat ${place} of these, with ${settings}:`, ...seats, ...lines].join('\n'), view);
  }
}

function ofView(changes: readonly TableChanges[], { occurrenceTables }: { occurrenceTables: readonly number[] }) {
  return changes.filter(({ table }) => occurrenceTables.includes(table.oid));
}

function valuesAt(view: FuzzView, place: number): string {
  return JSON.stringify(valuesFor(textOfView(view).parameters, userAt(place)));
}

/** In an order of their own: a statement yields them in any. */
function opsOf({ held }: Patch): Op[] {
  const ops = JSON.parse(`[${Buffer.concat(held).toString()}]`) as Op[];
  const order = ({ key, op }: Op) => `${key} ${op}`;
  return ops.sort((one, other) => (order(one) < order(other) ? -1 : 1));
}

function opsIn(ops: readonly Op[], { name }: { readonly name: string }): Op[] {
  return ops.filter(({ key }) => key.startsWith(`${name}/`));
}
