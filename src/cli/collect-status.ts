import type { Table } from '../catalog/tables.js';
import type { Config } from '../config.js';
import type { UserContext } from '../context.js';
import type { Database } from '../db/database.js';
import { SetupError } from '../errors.js';
import { type CaptureRow, captureFault, captureSql } from '../installation/capture-check.js';
import { checkViews } from '../installation/check-views.js';
import { CurrentInstallation } from '../installation/current-installation.js';
import { codeVersion, installedVersion, refuseNewer } from '../installation/version.js';
import { analyze } from '../view/analyze.js';
import { ClientViews, readQuery } from '../view/client-views.js';
import type { ViewInput } from '../view/define.js';
import { sampleInput } from '../view/sample.js';
import type { Strategy } from '../view/strategy.js';
import { type LogStatus, readCapturedTables, readLog, readServer, type ServerStatus } from './log-status.js';

/** The state of one view. */
export interface ViewStatus {
  readonly name: string;
  readonly strategy: Strategy | 'refused';
  /** Why the view is not incremental, or why it is refused. */
  readonly reason?: string | undefined;
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

const oldestPostgres = 15;

/** Checks everything that serving depends on. */
export async function collectStatus(db: Database, config: Config): Promise<Status> {
  const problems: string[] = [];
  const postgres = await readServer(db);
  if (postgres.versionNumber < oldestPostgres * 10_000) {
    problems.push(`Postgres ${postgres.version} is too old. Upgrade it to ${oldestPostgres} or later.`);
  }
  const schema = { installed: await installedVersion(db), code: await codeVersion() };
  if (schema.installed < schema.code) {
    problems.push(
      schema.installed === 0
        ? 'Tidemark is not installed in this database. Run `tidemark migrate`.'
        : `The schema "tidemark" has version ${schema.installed}, but this code needs ${schema.code}. Run \`tidemark migrate\`.`,
    );
  }
  await note(problems, async () => refuseNewer(schema.installed, schema.code));

  const input = sampleInput(config);
  const read = new Map<number, Table>();
  const views: ViewStatus[] = [];
  for (const name of Object.keys(config.views)) views.push(await viewStatus(db, config, name, input, read, problems));
  if (schema.installed !== schema.code) return { postgres, schema, log: null, views, tables: [], problems };

  const log = await readLog(db);
  const tables = await tableStatus(db, read, problems);
  if (problems.length === 0) {
    // The check that `createSync` makes when it starts: whatever it would refuse is reported here too.
    const installation = new CurrentInstallation(db, new ClientViews(db, config.views));
    await note(problems, async () => checkViews(db, await installation.bind(input)));
  }
  return { postgres, schema, log, views, tables, problems };
}

async function viewStatus(
  db: Database,
  { views }: Config,
  name: string,
  input: ViewInput<UserContext>,
  read: Map<number, Table>,
  problems: string[],
): Promise<ViewStatus> {
  const view = views[name]!;
  const fault = await note(problems, () => new ClientViews(db, { [name]: view }).bind(input, ''));
  if (fault !== undefined) return { name, strategy: 'refused', reason: fault };
  const { strategy, reason, tables } = await analyze(db, readQuery(view.query(input)).text, view.key);
  for (const table of tables) read.set(table.oid, table);
  return { name, strategy, reason };
}

async function tableStatus(db: Database, read: ReadonlyMap<number, Table>, problems: string[]): Promise<TableStatus[]> {
  const captured = await readCapturedTables(db);
  const rows = await db.query<CaptureRow>({ text: captureSql, values: [captured.map(({ id }) => id)] });
  const missing = [...read.values()].filter((table) => !captured.some(({ oid }) => oid === table.oid));
  const found = captured.map(({ id, oid, name, logRows }): TableStatus => {
    const table = read.get(oid);
    const fault = table && captureFault(table, id, rows);
    if (fault !== undefined) problems.push(`Changes to ${name} are not captured: ${fault}. Run \`tidemark migrate\`.`);
    return { name, read: table !== undefined, captured: fault === undefined, logRows };
  });
  return [
    ...found,
    ...missing.map(({ schema, name }): TableStatus => {
      problems.push(`Changes to ${schema}.${name} have never been captured. Run \`tidemark migrate\`.`);
      return { name: `${schema}.${name}`, read: true, captured: false, logRows: 0 };
    }),
  ];
}

/** Adds the message of a SetupError to the problems and returns it; undefined if the check passes. */
async function note(problems: string[], check: () => Promise<unknown>): Promise<string | undefined> {
  try {
    await check();
    return undefined;
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    problems.push(error.message);
    return error.message;
  }
}
