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

/** The version of the schema that this code works with. */
export const codeVersion: number = migrations.at(-1)!.version;

/** The version of the installed schema; 0 if there is none. */
export async function installedVersion(db: Database): Promise<number> {
  const [found] = await db.query<{ found: boolean }>({
    text: `select to_regclass('tidemark.migration') is not null as found`,
  });
  if (!found!.found) return 0;
  const [row] = await db.query<{ version: number | null }>({
    text: 'select max(version) as version from tidemark.migration',
  });
  return row!.version ?? 0;
}

/** @throws SetupError if the installed schema is newer than this code. */
export function refuseNewer(installed: number, code: number): void {
  if (installed > code) {
    throw new SetupError(
      `The schema "tidemark" has version ${installed}, but this code supports versions up to ${code}. Deploy a newer Tidemark: an older one would lose changes.`,
    );
  }
}

/** @throws SetupError if the installed schema has another version than this code, or there is none. */
export function refuseOther(installed: number, code: number): void {
  refuseNewer(installed, code);
  if (installed === 0) throw new SetupError('Tidemark is not installed in this database. Run `tidemark migrate`.');
  if (installed < code) {
    throw new SetupError(
      `The schema "tidemark" has version ${installed}, but this code needs ${code}. Run \`tidemark migrate\`.`,
    );
  }
}
