import { BoundedMap } from '../../bounded-map.js';
import type { ChangeLogCache } from '../../change-log/change-log-cache.js';
import type { ChangeLogPoller } from '../../change-log/change-log-poller.js';
import { Coalescer } from '../../change-log/coalesce.js';
import type { Database } from '../../db/database.js';
import { isOfValue } from '../../db/sqlstate.js';
import { retry } from '../../db/transact.js';
import type { Snapshot } from '../../protocol/snapshot.js';
import {
  type CohortLine,
  type CohortParameters,
  cohortParametersOf,
  cohortSql,
  cohortsPerStatement,
  cohortValues,
  maxOps,
} from '../../store/patches/cohorts.js';
import { changedTablesOf } from '../../store/patches/patch-sql.js';
import { isSmall, observedStateOf, readPatchObservation } from '../../store/polls/observation.js';
import { maxAttempts } from './patch-stream.js';
import { abortSignalOf, type DeltaReader, type Patch, type Reader, statementKey } from './reader.js';

const maxWaitMs = 100;

/** The number of cached statement texts. Each connection keeps the plans of the statements that it has run. */
const maxStatements = 200;

/** Readers whose bases lack the same changes to the same tables. */
interface BaseGroup {
  readonly base: Snapshot;
  /** The log rows of each changed table, by ID: the maximum of the change-log cache and all readers' own states. */
  readonly rows: Map<number, number>;
  readonly readers: Reader[];
}

/** Readers whose views have the same parameters, and therefore the same rows. */
interface ReaderCohort {
  readonly parameters: CohortParameters;
  readonly readers: Reader[];
}

/**
 * Reads small deltas with prepared statements. One statement serves all client views with the same view texts that lack
 * the same changes, even of different users, because each op names its cohort.
 */
export class CohortReads {
  readonly #db: Database;
  readonly #poller: ChangeLogPoller | undefined;
  readonly #deltas = new Coalescer(
    (readers: readonly DeltaReader[], signal) => this.#read(readers, signal),
    maxWaitMs,
    ({ reader }) => abortSignalOf(reader),
  );
  readonly #texts = new BoundedMap<string, string>(maxStatements);

  /** @param poller if undefined, there is no change-log cache */
  constructor(db: Database, poller: ChangeLogPoller | undefined) {
    this.#db = db;
    this.#poller = poller;
  }

  /** Returns one reader's delta; undefined if it is not small after all, or if a statement of several cohorts fails. */
  delta(deltaReader: DeltaReader): Promise<Patch | undefined> {
    return this.#deltas.ask(statementKey(deltaReader.reader), deltaReader);
  }

  async #read(
    deltaReaders: readonly DeltaReader[],
    signal: AbortSignal | undefined,
  ): Promise<Promise<Patch | undefined>[]> {
    const answers = new Map<Reader, Promise<Patch | undefined>>();
    for (const group of groupByBase(deltaReaders, this.#poller?.cache)) {
      for (const cohorts of splitIntoStatements(group)) {
        const patches = this.#runStatement(group, cohorts, signal);
        for (const reader of cohorts.flatMap((cohort) => cohort.readers)) {
          answers.set(
            reader,
            patches.then((byReader) => byReader.get(reader)),
          );
        }
      }
    }
    // Readers that arrive during this time share the next statement.
    await Promise.allSettled(answers.values());
    return deltaReaders.map(({ reader }) => answers.get(reader) ?? Promise.resolve(undefined));
  }

  /** Runs one statement. Only the readers of a cohort get the ops of that cohort. */
  async #runStatement(
    { base, rows }: BaseGroup,
    cohorts: readonly ReaderCohort[],
    signal: AbortSignal | undefined,
  ): Promise<Map<Reader, Patch>> {
    const first = cohorts[0]!.readers[0]!;
    const { views, schema } = first;
    const changes = changedTablesOf(schema.tables, rows);
    const isShared = cohorts.length > 1;
    const readers = cohorts.flatMap((cohort) => cohort.readers);
    const groupIDs = [...new Set(readers.map(({ groupRequest }) => groupRequest.clientGroupID))];
    const input = { base, tables: schema.tableIDs, groupIDs };
    const key = [statementKey(first), isShared, ...changes.map(({ table }) => table.id)].join();
    const text =
      this.#texts.get(key) ??
      cohortSql(
        views.map(({ view }) => view),
        changes,
        isShared,
      );
    this.#texts.set(key, text);
    const cohortParameters = cohorts.map(({ parameters }) => parameters);
    const values = cohortValues(input, schema.tables, cohortParameters, isShared);
    const lines = await retry(
      () => this.#db.query<CohortLine>({ name: 'tidemark_delta', text, values, signal }),
      maxAttempts,
    ).catch((error: unknown) => {
      if (!isShared || !isOfValue(error)) throw error;
      return undefined;
    });
    // An error in one user's view must not affect other users, so each reads alone.
    if (lines === undefined) return new Map();
    const [firstLine, ...ops] = lines as [CohortLine, ...CohortLine[]];
    if (ops.length > maxOps || ops.some(({ line }) => line === null)) return new Map();
    const observation = readPatchObservation(firstLine.line!);
    const cache = this.#poller?.cacheOf(observation.state);
    // The base may be from the cache, which says nothing about another server.
    if (!cache && readers.some((reader) => reader.base.text !== base.text)) return new Map();
    cache?.learn(observation.groups);
    const texts = textsByCohort(ops);
    const changed = changes.map(({ table }) => table.id);
    const patches = new Map<Reader, Patch>();
    for (const [index, { readers: cohortReaders }] of cohorts.entries()) {
      const text = texts.get(isShared ? index : null);
      // Each op is preceded by a comma.
      const firstChunks = text === undefined ? [] : [Buffer.from(text.slice(1))];
      for (const reader of cohortReaders) {
        const state = observedStateOf(observation, reader.groupRequest, reader.base);
        patches.set(reader, { state, torn: observation.torn, tables: changed, firstChunks });
      }
    }
    return patches;
  }
}

/** Returns the ops of each cohort, one per line as in COPY. */
function textsByCohort(ops: readonly CohortLine[]): ReadonlyMap<CohortLine['cohort'], string> {
  const texts = new Map<CohortLine['cohort'], string>();
  for (const { cohort, line } of ops) texts.set(cohort, `${texts.get(cohort) ?? ''}${line}\n`);
  return texts;
}

/**
 * Groups readers by the changes to their tables that their cookies lack. If the change-log cache reaches back far
 * enough, cookies that differ only in transactions on other tables share a group.
 */
function groupByBase(deltaReaders: readonly DeltaReader[], cache: ChangeLogCache | undefined): Iterable<BaseGroup> {
  const groups = new Map<string, BaseGroup>();
  for (const { reader, changed: readerChanges } of deltaReaders) {
    const { verifiedCookie, base: cookieBase, schema } = reader;
    const { tableIDs: ids } = schema;
    const from = cache && verifiedCookie.baseIn(cache);
    const loggedSince = cache?.lists(ids) && cache.reaches(from!) ? cache.since(from!, ids) : undefined;
    const base = loggedSince?.base ?? cookieBase;
    // The reader's own statement may have seen more than the newest poll.
    const changed = [...(loggedSince?.changed ?? []), ...readerChanges];
    if (!isSmall(changed)) continue;
    const group: BaseGroup = groups.get(base.text) ?? { base, rows: new Map(), readers: [] };
    groups.set(base.text, group);
    for (const [table, rows] of changed) group.rows.set(table, Math.max(rows, group.rows.get(table) ?? 0));
    group.readers.push(reader);
  }
  return groups.values();
}

/** Splits a group into the cohorts of each statement. */
function splitIntoStatements({ readers, rows }: BaseGroup): ReaderCohort[][] {
  const cohorts = new Map<string, ReaderCohort>();
  for (const reader of readers) {
    const parameters = cohortParametersOf(reader.views);
    const key = JSON.stringify(parameters);
    const cohort = cohorts.get(key) ?? { parameters, readers: [] };
    cohorts.set(key, cohort);
    cohort.readers.push(reader);
  }
  const logRows = [...rows.values()].reduce((sum, count) => sum + count, 0);
  const size = cohortsPerStatement(readers[0]!.views, logRows);
  const all = [...cohorts.values()];
  return Array.from({ length: Math.ceil(all.length / size) }, (_, i) => all.slice(i * size, (i + 1) * size));
}
