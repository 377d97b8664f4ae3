import { findTable, type Table } from '../catalog/tables.js';
import type { Database } from '../db/database.js';
import { SetupError } from '../errors.js';
import { checkMayRefuse, refusalTable } from '../store/refusals.js';
import { narrow, readSchemaState } from './schema-state.js';

/** Finds the table of refusals in a migrated database. @throws SetupError if there is none. */
export async function findRefusals(db: Pick<Database, 'query'>): Promise<Table> {
  const table = await findTable(db, refusalTable);
  if (table) return table;
  throw new SetupError(`There is no table ${refusalTable}: the schema is damaged. Restore it.`);
}

/**
 * Checks that refused mutations can be recorded, and that clients receive them.
 * @throws SetupError that says what is missing.
 */
export async function checkRefusals(db: Database): Promise<void> {
  const tables = [await findRefusals(db)];
  await checkMayRefuse(db);
  narrow(await readSchemaState(db, tables), tables);
}
