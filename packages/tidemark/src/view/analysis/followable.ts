/** Decides which tables views can read: their changes can be captured, and their rows change with nothing else. */
import { findTable, type Table } from '../../catalog/tables.js';
import { findNameColumns } from '../../catalog/types.js';
import type { Database } from '../../db/database.js';
import { SetupError } from '../../errors.js';
import { identifier } from '../../sql.js';
import type { Tree } from '../parse/tree.js';

/**
 * Returns the table that a query names.
 * @throws SetupError if no view can read it; the message says why, and what to do.
 */
export async function followable(db: Database, range: Tree): Promise<Table> {
  const { schemaname: schema, relname: name } = range as { schemaname?: string; relname: string };
  const label = schema === undefined ? name : `${schema}.${name}`;
  const table = await findTable(db, schema === undefined ? identifier(name) : identifier(schema, name));
  if (!table) throw new SetupError(`there is no table ${label}. Create it or correct the name`);
  const obstacle = obstacleTo(table);
  if (obstacle) throw new SetupError(`it reads ${label}, ${obstacle}`);
  const [named] = await findNameColumns(db, table.oid);
  if (named) {
    throw new SetupError(
      `it reads ${label}, whose column ${named.column} has the type ${named.type}: its rows are written with names, which a rename changes without a write. Give the column the type oid or text`,
    );
  }
  return table;
}

function obstacleTo(table: Table): string | undefined {
  if (table.kind === 'v') {
    return 'which is an SQL view, but changes are captured only on tables. Write its query into the client view';
  }
  if (table.kind !== 'r' && table.kind !== 'p') {
    return 'which is not an ordinary table: changes to a materialized view, foreign table or catalog cannot be captured. Read the tables behind it';
  }
  if (table.schema === 'pg_catalog' || table.schema === 'information_schema') {
    return 'which is a system catalog: its changes cannot be captured. Keep what the view needs in a table';
  }
  if (table.persistence === 'u') {
    return 'which is UNLOGGED: a crash empties it without a trace. Run ALTER TABLE … SET LOGGED';
  }
  if (table.persistence === 't') {
    return 'which is a temporary table that other connections cannot see. Use a permanent one';
  }
  if (table.isPartition) return 'which is a partition. Read its parent table';
  if (table.isInheritanceChild) {
    return 'which inherits from another table: writes made through that table are not captured. Run ALTER TABLE … NO INHERIT, or use partitions';
  }
  if (table.hasInheritanceChildren) {
    return 'which has INHERITS children, whose changes cannot be told apart. Use partitions';
  }
  const unlogged = table.parts.find(({ kind, persistence }) => kind !== 'p' && persistence === 'u');
  if (unlogged) {
    return `whose partition ${unlogged.name} is UNLOGGED: a crash empties it without a trace. Run ALTER TABLE … SET LOGGED`;
  }
  if (table.primaryKey.length === 0) return 'which has no primary key. Add one: ALTER TABLE … ADD PRIMARY KEY (…)';
  if (table.rowSecurity) {
    return 'which has row-level security that applies to the connected role: the change log would not obey it. Connect as the owner or a role with BYPASSRLS, and say in the view who sees what';
  }
  return undefined;
}
