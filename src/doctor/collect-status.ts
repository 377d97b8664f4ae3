import type { Table } from '../catalog/tables.js';
import type { Config } from '../config.js';
import type { UserContext } from '../context.js';
import type { Database } from '../db/database.js';
import { SetupError } from '../errors.js';
import {
  type CaptureFault,
  type CaptureRow,
  captureFault,
  captureSql,
  explainFault,
  neverCaptured,
} from '../installation/capture-check.js';
import { findRefusals } from '../installation/check-refusals.js';
import { checkViews } from '../installation/check-views.js';
import { type Bound, CurrentInstallation } from '../installation/current-installation.js';
import { installedVersion, refuseOther, supported } from '../installation/version.js';
import { readQuery } from '../sql.js';
import { analyze } from '../view/analyze.js';
import { partitionColumns } from '../view/change-costs.js';
import { type BoundView, ClientViews } from '../view/client-views.js';
import type { Strategy } from '../view/compile/strategy.js';
import type { ViewInput } from '../view/define.js';
import { sampleInput } from '../view/sample.js';
import { type ChangeStatus, readChanges } from './change-status.js';
import { type Finding, type FindingCode, finding, told } from './finding.js';
import { type LogStatus, readCapturedTables, readLog, readServer, type ServerStatus } from './log-status.js';

/** The state of one view. */
export interface ViewStatus {
  readonly name: string;
  readonly strategy: Strategy | 'refused';
  /** Why the view is not incremental, or why it is refused. */
  readonly reason?: string | undefined;
  /** What the client's keys look like, with columns in braces and `…` for a prefix of the user's own. */
  readonly keys?: string | undefined;
  /** The columns of tables that divide it into partitions; empty if it has none. */
  readonly partition?: readonly string[];
  /** What a change of each of its tables costs. */
  readonly changes?: readonly ChangeStatus[];
}

/** The state of a table that a view reads, or that was captured before. */
export interface TableStatus {
  readonly name: string;
  /** Whether a view reads it. */
  readonly read: boolean;
  readonly captured: boolean;
  readonly logRows: number;
}

/** What `tidemark status` shows. */
export interface Status {
  readonly postgres: ServerStatus;
  /** The versions of the schema; `installed` is 0 if Tidemark is not installed. */
  readonly schema: { readonly installed: number; readonly code: number };
  /** Null unless the installed schema has this code's version. */
  readonly log: LogStatus | null;
  readonly views: readonly ViewStatus[];
  /** Empty unless the installed schema has this code's version. */
  readonly tables: readonly TableStatus[];
  /** What is wrong and what to do, in whole sentences. */
  readonly problems: readonly string[];
}

/** The status, and what `tidemark doctor` goes on with. */
export interface Collected {
  readonly status: Omit<Status, 'problems'>;
  /** What keeps servers from serving. */
  readonly findings: readonly Finding[];
  /** By OID: the tables that views read, Tidemark's own among them. */
  readonly tables: ReadonlyMap<number, Table>;
  /** The views for the sample user; undefined if they cannot be served. */
  readonly bound: Bound | undefined;
}

const oldestPostgres = 15;
const newestPostgres = 18;

/** Checks everything that serving depends on. */
export async function collectStatus(db: Database, config: Config): Promise<Status> {
  const { status, findings } = await collect(db, config);
  const problems = findings.filter(({ severity }) => severity === 'error');
  return { ...status, problems: problems.map(({ what, advice }) => `${what} ${advice}`) };
}

/** Checks the same, and returns all that was found out. */
export async function collect(db: Database, config: Config): Promise<Collected> {
  const findings: Finding[] = [];
  const postgres = await readServer(db);
  const version = await installedVersion(db);
  const schema = { installed: version.newest, code: supported.newest };
  findings.push(...judgeVersion(postgres));
  const code = version.breaking > supported.newest ? 'newer-schema' : 'not-migrated';
  const misfit = await note(findings, code, null, async () => refuseOther(version, supported));

  const input = sampleInput(config);
  const read = new Map<number, Table>();
  const views: ViewStatus[] = [];
  for (const name of Object.keys(config.views)) views.push(await viewStatus(db, config, name, input, read, findings));
  const known = { findings, tables: read };
  if (misfit !== undefined) {
    return { ...known, status: { postgres, schema, log: null, views, tables: [] }, bound: undefined };
  }
  const refusals = await findRefusals(db);
  read.set(refusals.oid, refusals);
  const log = await readLog(db);
  const tables = await tableStatus(db, read, findings);
  let bound: Bound | undefined;
  if (findings.every(({ severity }) => severity !== 'error')) {
    // The check that `createSync` makes when it starts: whatever it would refuse is reported here too.
    const installation = new CurrentInstallation(db, new ClientViews(db, config.views));
    await note(findings, 'not-migrated', null, async () => {
      bound = await installation.bind(input);
    });
    if (bound) await note(findings, 'view-refused', null, () => checkViews(db, bound!));
  }
  return { ...known, status: { postgres, schema, log, views, tables }, bound };
}

/** Whether this version of Postgres is one that Tidemark works with. */
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
  input: ViewInput<UserContext>,
  read: Map<number, Table>,
  findings: Finding[],
): Promise<ViewStatus> {
  const view = views[name]!;
  let bound: readonly BoundView[] = [];
  const fault = await note(findings, 'view-refused', name, async () => {
    bound = await new ClientViews(db, { [name]: view }).bind(input, '');
  });
  if (fault !== undefined) return { name, strategy: 'refused', reason: fault };
  const analysis = await analyze(db, readQuery(view.query(input)).text, view.key, true);
  const { strategy, reason, tables } = analysis;
  for (const table of tables) read.set(table.oid, table);
  const partition = partitionColumns(analysis);
  return { name, strategy, reason, keys: bound[0]?.view.keyForm, partition, changes: await readChanges(db, analysis) };
}

async function tableStatus(
  db: Database,
  read: ReadonlyMap<number, Table>,
  findings: Finding[],
): Promise<TableStatus[]> {
  const captured = await readCapturedTables(db);
  const rows = await db.query<CaptureRow>({ text: captureSql, values: [captured.map(({ id }) => id)] });
  const missing = [...read.values()].filter((table) => !captured.some(({ oid }) => oid === table.oid));
  const report = (name: string, fault: CaptureFault) =>
    findings.push(told('not-captured', name, explainFault(name, fault)));
  const found = captured.map(({ id, oid, name, logRows }): TableStatus => {
    const table = read.get(oid);
    const fault = table && captureFault(table, id, rows);
    if (fault) report(name, fault);
    return { name, read: table !== undefined, captured: fault === undefined, logRows };
  });
  return [
    ...found,
    ...missing.map(({ schema, name }): TableStatus => {
      report(`${schema}.${name}`, neverCaptured);
      return { name: `${schema}.${name}`, read: true, captured: false, logRows: 0 };
    }),
  ];
}

/** Adds the message of a SetupError to the findings and returns it; undefined if the check passes. */
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
    findings.push(told(code, subject, error.message));
    return error.message;
  }
}
