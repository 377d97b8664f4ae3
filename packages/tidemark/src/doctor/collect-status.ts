import { type Table, tableLabel } from '../catalog/tables.js';
import type { Config } from '../config.js';
import type { UserContext } from '../context.js';
import type { Database } from '../db/database.js';
import { SetupError } from '../errors.js';
import { sampleInputFor } from '../sample-args.js';
import {
  type CaptureFault,
  type CaptureRow,
  captureFault,
  captureSql,
  explainFault,
  neverCaptured,
} from '../schema/capture/capture-check.js';
import { findRefusals } from '../schema/check-refusals.js';
import { type ResolvedViews, SchemaCache } from '../schema/schema-cache.js';
import { installedVersion, refuseOther, supported } from '../schema/version.js';
import { checkViews } from '../schema/views/check-views.js';
import { analyze } from '../view/analyze.js';
import { buildQuery } from '../view/build-query.js';
import { partitionColumns } from '../view/change-costs.js';
import { ClientViews, type ResolvedView } from '../view/client-views.js';
import type { Strategy } from '../view/compile/strategy.js';
import { queryOfInstances } from '../view/instances/instances.js';
import type { SampleInput } from '../view/sample.js';
import { type ChangeStatus, readChanges } from './change-status.js';
import { type Finding, type FindingCode, finding, findingFromMessage } from './finding.js';
import { type LogStatus, readCapturedTables, readLog, readServer, type ServerStatus } from './log-status.js';

/** The state of one view. */
export interface ViewStatus {
  readonly name: string;
  readonly strategy: Strategy | 'refused';
  /** The reason why the view is not incremental, or is refused. */
  readonly reason?: string | undefined;
  /** The form of the client's keys, with columns in braces and `…` for a user-specific prefix. */
  readonly keys?: string | undefined;
  /** The table columns that divide the view into partitions; empty if there are none. */
  readonly partition?: readonly string[];
  /** The cost of a change of each of its tables. */
  readonly changes?: readonly ChangeStatus[];
}

/** The state of a table that a view reads, or whose changes were captured before. */
export interface TableStatus {
  readonly name: string;
  /** True if a view reads it. */
  readonly read: boolean;
  readonly captured: boolean;
  readonly logRows: number;
}

/** The output of `tidemark status`. */
export interface Status {
  readonly postgres: ServerStatus;
  /** The versions of the schema; `installed` is 0 if Tidemark is not installed. */
  readonly schema: { readonly installed: number; readonly code: number };
  /** Null unless the installed schema has this code's version. */
  readonly log: LogStatus | null;
  readonly views: readonly ViewStatus[];
  /** Empty unless the installed schema has this code's version. */
  readonly tables: readonly TableStatus[];
  /** Each problem and what to do about it, in whole sentences. */
  readonly problems: readonly string[];
}

/** The status, and what `tidemark doctor` needs for further checks. */
export interface CollectedStatus {
  readonly status: Omit<Status, 'problems'>;
  /** Findings about what serving depends on. */
  readonly findings: readonly Finding[];
  /** The tables that views read, including Tidemark's own, by OID. */
  readonly tables: ReadonlyMap<number, Table>;
  /** The views, resolved for the sample user; undefined if they cannot be served. */
  readonly resolved: ResolvedViews | undefined;
}

const oldestPostgres = 15;
const newestPostgres = 18;

/** Checks everything that serving depends on, and returns the status. */
export async function collectStatus(db: Database, config: Config): Promise<Status> {
  const { status, findings } = await collect(db, config);
  const problems = findings.filter(({ severity }) => severity === 'error');
  return { ...status, problems: problems.map(({ what, advice }) => `${what} ${advice}`) };
}

/** Checks everything that serving depends on, and returns all results. */
export async function collect(db: Database, config: Config): Promise<CollectedStatus> {
  const findings: Finding[] = [];
  const postgres = await readServer(db);
  const version = await installedVersion(db);
  const schema = { installed: version.newest, code: supported.newest };
  findings.push(...judgeVersion(postgres));
  const code = version.breaking > supported.newest ? 'newer-schema' : 'not-migrated';
  const versionFault = await note(findings, code, null, async () => refuseOther(version, supported));

  const input = await sampleInputFor(config);
  const readTables = new Map<number, Table>();
  const views: ViewStatus[] = [];
  for (const name of Object.keys(config.views)) {
    views.push(await viewStatus(db, config, name, input, readTables, findings));
  }
  const common = { findings, tables: readTables };
  if (versionFault !== undefined) {
    return { ...common, status: { postgres, schema, log: null, views, tables: [] }, resolved: undefined };
  }
  const refusals = await findRefusals(db);
  readTables.set(refusals.oid, refusals);
  const log = await readLog(db);
  const tables = await tableStatus(db, readTables, findings);
  let resolved: ResolvedViews | undefined;
  if (findings.every(({ severity }) => severity !== 'error')) {
    // Runs the check that `createSync` makes when it starts, and reports whatever it would refuse.
    const schemaCache = new SchemaCache(db, new ClientViews(db, config.views));
    await note(findings, 'not-migrated', null, async () => {
      resolved = await schemaCache.resolve(input);
    });
    if (resolved) await note(findings, 'view-refused', null, () => checkViews(db, resolved!));
  }
  return { ...common, status: { postgres, schema, log, views, tables }, resolved };
}

/** Checks whether Tidemark supports this version of Postgres. */
export function judgeVersion({ version, versionNumber }: ServerStatus): Finding[] {
  const major = Math.floor(versionNumber / 10_000);
  if (major < oldestPostgres) {
    const advice = `Upgrade it to ${oldestPostgres} or later.`;
    return [finding('postgres-too-old', { what: `Postgres ${version} is too old.`, advice })];
  }
  if (major <= newestPostgres) return [];
  const advice = `Use Postgres ${oldestPostgres} to ${newestPostgres}, or a newer Tidemark.`;
  return [finding('postgres-untested', { what: `Postgres ${version} is newer than this Tidemark.`, advice })];
}

async function viewStatus(
  db: Database,
  { views }: Config,
  name: string,
  input: SampleInput<UserContext>,
  readTables: Map<number, Table>,
  findings: Finding[],
): Promise<ViewStatus> {
  const view = views[name]!;
  let resolved: readonly ResolvedView[] = [];
  const fault = await note(findings, 'view-refused', name, async () => {
    resolved = await new ClientViews(db, { [name]: view }).resolve(input, '');
  });
  if (fault !== undefined) return { name, strategy: 'refused', reason: fault };
  const { text } = buildQuery(view, input, input.argsOf(name));
  const one = await analyze(db, text, view.key, true);
  const analysis = view.args ? await analyze(db, queryOfInstances(text, one.parameterTypes), view.key, true) : one;
  const { strategy, reason, tables } = analysis;
  for (const table of tables) readTables.set(table.oid, table);
  const partition = partitionColumns(analysis);
  return {
    name,
    strategy,
    reason,
    keys: resolved[0]?.view.keyDescription,
    partition,
    changes: await readChanges(db, analysis),
  };
}

async function tableStatus(
  db: Database,
  readTables: ReadonlyMap<number, Table>,
  findings: Finding[],
): Promise<TableStatus[]> {
  const captured = await readCapturedTables(db);
  const rows = await db.query<CaptureRow>({ text: captureSql, values: [captured.map(({ id }) => id)] });
  const missing = [...readTables.values()].filter((table) => !captured.some(({ oid }) => oid === table.oid));
  const addFault = (name: string, fault: CaptureFault) =>
    findings.push(findingFromMessage('not-captured', name, explainFault(name, fault)));
  const tableStatuses = captured.map(({ id, oid, name, logRows }): TableStatus => {
    const table = readTables.get(oid);
    const fault = table && captureFault(table, id, rows);
    if (fault) addFault(name, fault);
    return { name, read: table !== undefined, captured: fault === undefined, logRows };
  });
  return [
    ...tableStatuses,
    ...missing.map((table): TableStatus => {
      const name = tableLabel(table);
      addFault(name, neverCaptured);
      return { name, read: true, captured: false, logRows: 0 };
    }),
  ];
}

/** Runs a check. If it throws a SetupError, adds the message to the findings and returns it. */
async function note(
  findings: Finding[],
  code: FindingCode,
  subject: string | null,
  check: () => Promise<unknown>,
): Promise<string | undefined> {
  try {
    await check();
    return undefined;
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    findings.push(findingFromMessage(code, subject, error.message));
    return error.message;
  }
}
