/** Shared statements: what one yields for a cohort equals what a statement for that cohort alone yields. */
import { isDeepStrictEqual } from 'node:util';
import type { VerifiedCookie } from '../../../packages/tidemark/src/change-log/cookie-cache.js';
import type { Database } from '../../../packages/tidemark/src/db/database.js';
import { isCancelled } from '../../../packages/tidemark/src/db/sqlstate.js';
import type { Snapshot } from '../../../packages/tidemark/src/protocol/snapshot.js';
import type { DeltaReader, Patch } from '../../../packages/tidemark/src/pulls/reads/reader.js';
import type { ResolvedViews, SchemaCache } from '../../../packages/tidemark/src/schema/schema-cache.js';
import type { ChangedTable } from '../../../packages/tidemark/src/store/patches/patch-sql.js';
import { noSchemaChanges } from '../../../packages/tidemark/src/store/row-formats/schema-change.js';
import { silent } from '../../support/log.js';
import type { Code } from '../oracle/code.js';
import type { CaseDatabase } from './database.js';
import { Difference } from './difference.js';
import { type Context, toViews } from './serving.js';
import { count, type Tally } from './tally.js';
import type { Truth } from './truth.js';
import { userAt, userIndexes, valuesFor } from './users.js';
import { type FuzzView, textOfView } from './view.js';
import { wantsOf } from './wants.js';

/** Planner settings. A server ends up with the generic plan, which is made for all values. */
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

/** A cohort that can be served alone, and the ops that it then receives. */
interface CohortRead {
  /** The index of its user. */
  readonly index: number;
  readonly request: DeltaReader;
  readonly ops: readonly Op[];
}

export interface SharedParts {
  readonly code: Code;
  readonly database: CaseDatabase;
  /** True if the parameters of views come from arguments. */
  readonly hasInstances: boolean;
  readonly truth: Truth;
  readonly tally: Tally;
}

export class SharedStatements {
  readonly #parts: SharedParts;
  readonly #plain: Database;
  readonly #planned = new Map<number, Database>();
  #schemaCache: SchemaCache<Context> | undefined;
  #base: Snapshot | undefined;

  constructor(parts: SharedParts) {
    this.#parts = parts;
    this.#plain = this.#open([]);
  }

  /** Starts again with the views that are compared. */
  async start(): Promise<void> {
    const { code } = this.#parts;
    const views = new code.ClientViews(this.#plain, toViews(this.#parts.truth.views, this.#parts.hasInstances));
    this.#schemaCache = new code.SchemaCache(this.#plain, views);
    this.#base = (await code.readNewChanges(this.#plain, undefined, [])).snapshot;
  }

  /**
   * Reads the changes since the previous call, or since the start.
   * @throws Difference if a cohort gets something else than from its own statement
   */
  async compare(plan: number): Promise<void> {
    const { code } = this.#parts;
    const base = this.#base!;
    const resolved = await Promise.all(userIndexes.map((index) => this.#resolve(index)));
    const { tables, tableIDs } = resolved[0]!.schema;
    const { snapshot, changes } = await code.readNewChanges(this.#plain, base, tableIDs);
    this.#base = snapshot;
    // A log that lacks truncated rows yields no delta.
    if (changes.some(({ truncated }) => truncated)) return;
    const changed = changes.map(({ table, rows }) => [table, rows] as const);
    const changedTables = code.changedTablesOf(tables, new Map(changed));
    const viewIndexes = resolved[0]!.views.flatMap(({ view, literals }, i) =>
      view.cohortView && literals.length > 0 && ofView(changedTables, view).length > 0 ? [i] : [],
    );
    if (viewIndexes.length === 0) return;
    // Only its snapshot is read.
    const cookie = { cookie: { parsedSnapshot: base } } as VerifiedCookie;
    const requests = resolved.map((whole, index): DeltaReader => {
      const { views, queryDigest } = whole;
      const part = {
        ...whole,
        views: viewIndexes.map((i) => views[i]!),
        queryDigest: `${queryDigest} ${viewIndexes.join()}`,
      };
      const group = { clientGroupID: `group ${index}`, sameGroup: true, clientID: undefined };
      const caller = { context: { userID: userAt(index) }, requestID: '', log: silent };
      const reader = code.createReader({
        resolved: part,
        caller,
        verifiedCookie: cookie,
        consistencyCheck: null,
        checksumMode: 'no',
        groupRequest: group,
        viewDifference: undefined,
        schemaChanges: noSchemaChanges,
      });
      return { reader, changed };
    });
    const db = this.#planned.get(plan) ?? this.#open([...plans[plan]!, `statement_timeout=${timeoutMs}`]);
    this.#planned.set(plan, db);
    const reads = await this.#readEach(db, requests);
    if (reads.length < 2) return;
    await this.#compareOps(db, reads, plan);
    await this.#compareAffected(db, reads, changedTables, plan);
  }

  #open(settings: readonly string[]): Database {
    return this.#parts.code.openPool(this.#parts.database.openPool(settings));
  }

  #resolve(index: number): Promise<ResolvedViews> {
    const { hasInstances, truth } = this.#parts;
    const users = index % 2 === 0 ? [index] : [index, (index + 1) % userIndexes.length];
    const requested = hasInstances ? wantsOf(truth.views, users) : [];
    const wants = requested.map((want) => ({ ...want, requested: want }));
    return this.#schemaCache!.resolve({ ctx: { userID: userAt(index) }, profileID: 'p', schemaVersion: '', wants });
  }

  /** Reads for each cohort alone. The query can fail with the values of an unknown user. */
  async #readEach(db: Database, requests: readonly DeltaReader[]): Promise<CohortRead[]> {
    const reads: CohortRead[] = [];
    for (const [index, request] of requests.entries()) {
      const patch = await this.#attempt(() => new this.#parts.code.CohortReads(db, undefined).delta(request));
      if (patch && !patch.torn) reads.push({ index, request, ops: opsOf(patch) });
    }
    return reads;
  }

  async #attempt<T>(read: () => Promise<T>): Promise<T | undefined> {
    try {
      return await read();
    } catch (error) {
      count(this.#parts.tally.shared.failures, (error as Error).message.replace(/"[^"]*"/g, '"…"'));
      return undefined;
    }
  }

  async #compareOps(db: Database, reads: readonly CohortRead[], plan: number): Promise<void> {
    const { code, tally } = this.#parts;
    let statements = 0;
    const counted: Database = {
      ...db,
      query: (statement) => {
        statements++;
        return db.query(statement);
      },
    };
    const cohortReads = new code.CohortReads(counted, undefined);
    const patches: (Patch | undefined)[] = await Promise.all(
      reads.map(({ request }) => cohortReads.delta(request)),
    ).catch((error: Error) => {
      if (isCancelled(error)) return [];
      const { views } = reads[0]!.request.reader;
      const name = views.length === 1 ? views[0]!.view.name : undefined;
      throw this.#difference(name, reads[0]!.index, reads, plan, [`  together: ${error.message}`]);
    });
    // Too much has changed for a delta of this kind.
    if (patches.length === 0 || patches.includes(undefined)) return;
    if (statements !== 1) throw new Error(`${reads.length} cohorts did not share one statement, but ran ${statements}`);
    tally.shared.statements++;
    for (const [i, patch] of patches.entries()) {
      const { index, request, ops } = reads[i]!;
      if (ops.length > 0) tally.shared.cohorts++;
      const shared = opsOf(patch!);
      if (isDeepStrictEqual(shared, ops)) continue;
      const concerned = request.reader.views.find(
        ({ view }) => !isDeepStrictEqual(opsIn(shared, view), opsIn(ops, view)),
      )!;
      const lines = [`  together: ${JSON.stringify(opsIn(shared, concerned.view))}`];
      lines.push(`  alone:    ${JSON.stringify(opsIn(ops, concerned.view))}`);
      throw this.#difference(concerned.view.name, index, reads, plan, lines);
    }
  }

  /** Finds the cohorts to poke. A cohort without ops is not poked. One with ops may already hold them. */
  async #compareAffected(
    db: Database,
    reads: readonly CohortRead[],
    changes: readonly ChangedTable[],
    plan: number,
  ): Promise<void> {
    const { code, tally } = this.#parts;
    for (const [i, { view }] of reads[0]!.request.reader.views.entries()) {
      const changesOfView = ofView(changes, view);
      const { base } = reads[0]!.request.reader;
      const find = (some: readonly CohortRead[], mode: 'net' | 'anyVersion') => {
        const cohorts = some.map(({ request }) => request.reader.views[i]!);
        return this.#attempt(() =>
          code.findAffectedCohorts(db, { view, cohorts, mode, timeoutMs }, changesOfView, base),
        );
      };
      // If a view cannot be read for several cohorts together, its query uses only touched rows.
      const ever = await find(reads, 'anyVersion');
      const together = view.cohortView ? await find(reads, 'net') : ever;
      if (!together || !ever) continue;
      tally.shared.queries++;
      for (const [cohort, one] of reads.entries()) {
        const hasOps = opsIn(one.ops, view).length > 0;
        const alone = hasOps && view.cohortView ? await find([one], 'net') : [];
        if (!alone) continue;
        const [is, may] = [together.includes(cohort), ever.includes(cohort)];
        const should = view.cohortView ? alone.length > 0 : hasOps;
        if (should) tally.shared.affected++;
        if (view.cohortView ? is === should && (may || !should) : may || !should) continue;
        const lines = [`  affected together: ${is}, or ever: ${may}; alone: ${should}`];
        throw this.#difference(view.name, one.index, reads, plan, lines);
      }
    }
  }

  #difference(
    name: string | undefined,
    index: number,
    reads: readonly CohortRead[],
    plan: number,
    lines: readonly string[],
  ): Difference {
    const view = this.#parts.truth.views.find((one) => one.name === name);
    const cohorts = reads.map((one) => `  cohort ${one.index}: ${view ? valuesAt(view, one.index) : ''}`);
    const settings = plans[plan]!.join(', ') || 'no settings';
    return new Difference(
      'cohorts',
      [`Cohort ${index} of these, with ${settings}:`, ...cohorts, ...lines].join('\n'),
      view,
    );
  }
}

function ofView(changes: readonly ChangedTable[], { occurrenceTables }: { occurrenceTables: readonly number[] }) {
  return changes.filter(({ table }) => occurrenceTables.includes(table.oid));
}

function valuesAt(view: FuzzView, index: number): string {
  return JSON.stringify(valuesFor(textOfView(view).parameters, userAt(index)));
}

/** Sorted, because a statement yields them in any order. */
function opsOf({ firstChunks }: Patch): Op[] {
  const ops = JSON.parse(`[${Buffer.concat(firstChunks).toString()}]`) as Op[];
  const order = ({ key, op }: Op) => `${key} ${op}`;
  return ops.sort((one, other) => (order(one) < order(other) ? -1 : 1));
}

function opsIn(ops: readonly Op[], { name }: { readonly name: string }): Op[] {
  return ops.filter(({ key }) => key.startsWith(`${name}/`));
}
