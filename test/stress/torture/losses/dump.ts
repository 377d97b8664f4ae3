/** Copies the rows of a database to another cluster, as a dump and its restore do. */
import type pg from 'pg';

/** The rows of each table as text. */
export type Dump = ReadonlyMap<string, readonly string[]>;

/** Reads all rows of the application and of Tidemark in one snapshot. */
export async function dump(pool: pg.Pool): Promise<Dump> {
  const client = await pool.connect();
  try {
    await client.query('begin isolation level repeatable read read only');
    const rows = new Map<string, string[]>();
    for (const table of await tablesOf(client)) {
      const found = await client.query<{ text: string }>(`select t::text as text from ${table} t`);
      rows.set(
        table,
        found.rows.map(({ text }) => text),
      );
    }
    return rows;
  } finally {
    await client.query('rollback');
    client.release();
  }
}

/** Replaces the rows of a database with the same tables. No trigger fires. */
export async function restoreDump(pool: pg.Pool, rows: Dump): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query('begin');
    const tables = [...rows.keys()];
    for (const table of tables) await client.query(`alter table ${table} disable trigger all`);
    await client.query(`truncate ${tables.join(', ')}`);
    for (const [table, texts] of rows) {
      const insert = `insert into ${table} overriding system value select (unnest($1::text[])::${table}).*`;
      if (texts.length > 0) await client.query(insert, [texts]);
    }
    for (const table of tables) {
      const { rows: triggers } = await client.query<{ name: string }>(
        `select quote_ident(tgname) as name from pg_trigger where tgrelid = $1::regclass and not tgisinternal`,
        [table],
      );
      await client.query(`alter table ${table} enable trigger all`);
      for (const { name } of triggers) await client.query(`alter table ${table} enable always trigger ${name}`);
    }
    await client.query('commit');
  } finally {
    client.release();
  }
}

async function tablesOf(client: pg.PoolClient): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select oid::regclass::text as name from pg_class
     where relkind = 'r' and relnamespace in ('public'::regnamespace, 'tidemark'::regnamespace)`,
  );
  return rows.map(({ name }) => name);
}
