/** The installed version of Tidemark's schema, and the versions that this code works with. */
import type { Database } from '../db/database.js';
import { SetupError } from '../errors.js';
import { migrationFiles } from './migration-files.js';

/** One numbered migration. */
export interface Migration {
  readonly version: number;
  readonly file: string;
  readonly sql: string;
}

/** All migrations, in order. */
export const migrations: readonly Migration[] = Object.entries(migrationFiles)
  .map(([file, sql]) => ({ version: Number(file.slice(0, 4)), file, sql }))
  .sort((one, other) => one.version - other.version);

/** The newest schema version that this code works with. `tidemark migrate` brings the schema to this version. */
export const codeVersion: number = migrations.at(-1)!.version;

/** The oldest schema version that this code works with, which is the previous release's. */
const oldestVersion = 1;

/**
 * The last migration that breaks older code. Later migrations only add to the schema, so code without them continues to
 * work, and two versions of Tidemark can run side by side.
 */
const lastBreaking = 1;

/** Returns the table that records a migration. Code refuses a schema if `tidemark.migration` has one that it lacks. */
export function recordOf({ version }: Migration): 'tidemark.migration' | 'tidemark.expansion' {
  return version > lastBreaking ? 'tidemark.expansion' : 'tidemark.migration';
}

/** The installed version of the schema. */
export interface InstalledVersion {
  /** The newest migration that was applied; 0 if there is none. */
  readonly newest: number;
  /** The newest migration that code must include to work with the schema. */
  readonly breaking: number;
  /** The database's encoding, as Postgres names it. */
  readonly encoding: string;
}

const recordsSql = `
  select to_regclass('tidemark.migration') is not null as migrated,
    to_regclass('tidemark.expansion') is not null as expanded, current_setting('server_encoding') as encoding`;

/** Reads the installed version. */
export async function installedVersion(db: Pick<Database, 'query'>): Promise<InstalledVersion> {
  const [records] = await db.query<{ migrated: boolean; expanded: boolean; encoding: string }>({
    name: 'tidemark_records',
    text: recordsSql,
  });
  const newest = async (table: string) => {
    const [row] = await db.query<{ version: number }>({
      name: 'tidemark_version',
      text: `select coalesce(max(version), 0) as version from ${table}`,
    });
    return row!.version;
  };
  const breaking = records!.migrated ? await newest('tidemark.migration') : 0;
  const expansion = records!.expanded ? await newest('tidemark.expansion') : 0;
  return { breaking, newest: Math.max(breaking, expansion), encoding: records!.encoding };
}

/** A range of schema versions that code works with. */
export interface Supported {
  readonly newest: number;
  readonly oldest: number;
}

/** The range that this code works with. */
export const supported: Supported = { newest: codeVersion, oldest: oldestVersion };

/** @throws SetupError if the installed schema is too new for this code */
export function refuseNewer({ breaking }: Pick<InstalledVersion, 'breaking'>, code: number): void {
  if (breaking > code) {
    throw new SetupError(
      `The schema "tidemark" has version ${breaking}, but this code supports versions up to ${code}. Deploy a newer Tidemark: an older one would lose changes.`,
    );
  }
}

/**
 * Other encodings lack characters that clients can send in JSON, and SQL_ASCII permits bytes that are not valid text.
 * @throws SetupError if the database's encoding is not UTF8
 */
export function refuseOtherEncoding(encoding: string): void {
  if (encoding !== 'UTF8') {
    throw new SetupError(
      `The database has the encoding ${encoding}, which cannot hold every text that clients send. Tidemark needs UTF8: dump the database, and restore it into one that was created with \`create database … encoding 'UTF8' template template0\`.`,
    );
  }
}

/**
 * @throws SetupError if no schema is installed, if this code does not work with its version, or if the database's
 * encoding is not UTF8
 */
export function refuseOther(installed: InstalledVersion, { newest, oldest }: Supported): void {
  refuseOtherEncoding(installed.encoding);
  refuseNewer(installed, newest);
  if (installed.newest === 0) {
    throw new SetupError('Tidemark is not installed in this database. Run `tidemark migrate`.');
  }
  if (installed.newest < oldest) {
    throw new SetupError(
      `The schema "tidemark" has version ${installed.newest}, but this code needs ${oldest}. Run \`tidemark migrate\`.`,
    );
  }
}
