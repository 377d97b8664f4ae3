/**
 * The SQL of the migrations by the names of their files, from `sql/`. In the package, the build has put a module in the
 * place of this one that contains them: an application that is bundled takes only modules along.
 */
import { readdirSync, readFileSync } from 'node:fs';

const folder = new URL('../../sql/', import.meta.url);

export const migrationFiles: Readonly<Record<string, string>> = Object.fromEntries(
  readdirSync(folder).map((file) => [file, readFileSync(new URL(file, folder), 'utf8')]),
);
