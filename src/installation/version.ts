/** The version of Tidemark's schema that is installed, and the one that this code works with. */
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

/** The newest version of the schema that this code knows: `tidemark migrate` brings the schema to it. */
export const codeVersion: number = migrations.at(-1)!.version;

/** The oldest version of the schema that this code works with: the one of the release before. */
const leastVersion = 1;

/**
 * Later migrations only add to the schema, so that code which does not know them goes on working with it: two versions
 * of Tidemark can run side by side.
 */
const lastBreaking = 1;

/** Where a migration is recorded. Code refuses a schema with one in `tidemark.migration` that it does not know. */
export function recordOf({ version }: Migration): 'tidemark.migration' | 'tidemark.expansion' {
  return version > lastBreaking ? 'tidemark.expansion' : 'tidemark.migration';
}

/** What is installed. */
export interface InstalledVersion {
  /** The newest migration; 0 if there is none. */
  readonly newest: number;
  /** The newest migration that code must know to work with the schema. */
  readonly breaking: number;
  /** The database's encoding, as Postgres names it. */
  readonly encoding: string;
}

const recordsSql = `
  select to_regclass('tidemark.migration') is not null as migrated,
    to_regclass('tidemark.expansion') is not null as expanded, current_setting('server_encoding') as encoding`;

/** Reads which version is installed. */
export async function installedVersion(db: Pick<Database, 'query'>): Promise<InstalledVersion> {
  const [found] = await db.query<{ migrated: boolean; expanded: boolean; encoding: string }>({
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
  const breaking = found!.migrated ? await newest('tidemark.migration') : 0;
  const expansion = found!.expanded ? await newest('tidemark.expansion') : 0;
  return { breaking, newest: Math.max(breaking, expansion), encoding: found!.encoding };
}

/** Versions of the schema: those that some code works with. */
export interface Supported {
  readonly newest: number;
  readonly least: number;
}

/** Those that this code works with. */
export const supported: Supported = { newest: codeVersion, least: leastVersion };

/** @throws SetupError if the installed schema is one that this code cannot work with, since it is newer. */
export function refuseNewer({ breaking }: Pick<InstalledVersion, 'breaking'>, code: number): void {
  if (breaking > code) {
    throw new SetupError(
      `The schema "tidemark" has version ${breaking}, but this code supports versions up to ${code}. Deploy a newer Tidemark: an older one would lose changes.`,
    );
  }
}

/**
 * Other encodings lack characters that clients send and JSON may hold; SQL_ASCII has bytes that are no text.
 * @throws SetupError if the database is not in UTF-8
 */
export function refuseOtherEncoding(encoding: string): void {
  if (encoding !== 'UTF8') {
    throw new SetupError(
      `The database has the encoding ${encoding}, which cannot hold every text that clients send. Tidemark needs UTF8: dump the database, and restore it into one that was created with \`create database … encoding 'UTF8' template template0\`.`,
    );
  }
}

/**
 * @throws SetupError if the installed schema is one that this code cannot work with, or there is none, or the database is
 * not in UTF-8
 */
export function refuseOther(installed: InstalledVersion, { newest, least }: Supported): void {
  refuseOtherEncoding(installed.encoding);
  refuseNewer(installed, newest);
  if (installed.newest === 0) {
    throw new SetupError('Tidemark is not installed in this database. Run `tidemark migrate`.');
  }
  if (installed.newest < least) {
    throw new SetupError(
      `The schema "tidemark" has version ${installed.newest}, but this code needs ${least}. Run \`tidemark migrate\`.`,
    );
  }
}
