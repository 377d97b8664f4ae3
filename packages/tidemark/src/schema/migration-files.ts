/**
 * The SQL of the migrations in `sql/`, by file name. In the package, the build replaces this module by one that
 * contains the SQL, because bundlers include only modules.
 */
import { readdirSync, readFileSync } from 'node:fs';

const folder = new URL('../../sql/', import.meta.url);

export const migrationFiles: Readonly<Record<string, string>> = Object.fromEntries(
  readdirSync(folder).map((file) => [file, readFileSync(new URL(file, folder), 'utf8')]),
);
