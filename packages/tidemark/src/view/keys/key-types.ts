import { findNestedTypes } from '../../catalog/types.js';
import type { Database, ResultColumn } from '../../db/database.js';
import { SetupError } from '../../errors.js';
import { isPlainKey } from './key-text.js';

/**
 * Checks that each column of a key is sent as one text or number, which becomes its text in the key.
 * @throws SetupError that names the column and its type, and says what to write.
 */
export async function checkKeyTypes(
  db: Database,
  columns: readonly ResultColumn[],
  key: readonly string[],
): Promise<void> {
  const checkedColumns = columns.filter((column) => key.includes(column.name) && !isPlainKey(column));
  if (checkedColumns.length === 0) return;
  const nested = await findNestedTypes(
    db,
    checkedColumns.map(({ typeOID }) => typeOID),
  );
  for (const { name, typeOID } of checkedColumns) {
    const type = nested.get(typeOID);
    if (type === undefined) continue;
    throw new SetupError(
      `its key names the column ${name} of the type ${type}, which is sent as an array, an object or any JSON, and a key is made of texts and numbers. Return what identifies the row as columns of their own, or cast it: ${name}::text as ${name}`,
    );
  }
}
