/**
 * A second database with the same tables. It is brought to the state of any snapshot, and the views' own SQL then says
 * what a client must hold. Its only transaction stays open: for the other database, it is an idle transaction with an
 * ID that holds back every snapshot's xmin.
 */
import type { Client } from 'pg';
import type { State, Version } from './history.js';
import { type OracleTable, schemaSql, tables } from './schema.js';
import { comparable, type Holding, keyOf, type OracleView, type Viewer } from './views.js';

const checksPerTransaction = 400;

/** Rows arrive in any order, and nothing may change them on the way. */
const dropRules = `
  do $$
  declare r record;
  begin
    for r in select conrelid::regclass as relation, conname from pg_constraint where contype = 'f' and conparentid = 0 loop
      execute format('alter table %s drop constraint %I', r.relation, r.conname);
    end loop;
    for r in select tgrelid::regclass as relation, tgname from pg_trigger where not tgisinternal loop
      execute format('drop trigger %I on %s', r.tgname, r.relation);
    end loop;
  end $$`;

export class Replica {
  readonly #client: Client;
  #rows = new Map<string, Map<string, Version>>();
  #checks = 0;

  constructor(client: Client) {
    this.#client = client;
  }

  async setUp(): Promise<void> {
    await this.#client.query(`${schemaSql}; ${dropRules}`);
    await this.#start();
  }

  async #start(): Promise<void> {
    await this.#client.query('begin');
    await this.#client.query(`truncate ${tables.map((table) => `${table.schema}.${table.name}`).join(', ')}`);
    this.#rows = new Map(tables.map((table) => [`${table.schema}.${table.name}`, new Map()]));
  }

  async show(state: State): Promise<void> {
    if (++this.#checks % checksPerTransaction === 0) {
      await this.#client.query('commit');
      await this.#start();
    }
    for (const table of tables) await this.#showTable(table, state.get(`${table.schema}.${table.name}`)!);
  }

  async #showTable({ schema, name, primaryKey }: OracleTable, rows: ReadonlyMap<string, Version>): Promise<void> {
    const table = `${schema}.${name}`;
    const versions = this.#rows.get(table)!;
    const removed = [...versions].filter(([key, version]) => rows.get(key)?.seq !== version.seq);
    const come = [...rows].filter(([key, version]) => versions.get(key)?.seq !== version.seq);
    if (removed.length > 0) {
      const same = primaryKey.map((column) => `r.${column} = t.${column}`).join(' and ');
      await this.#client.query({
        name: `remove_${name}`,
        text: `delete from ${table} t using unnest($1::${table}[]) r where ${same}`,
        values: [removed.map(([, version]) => version.image)],
      });
    }
    if (come.length > 0) {
      await this.#client.query({
        name: `add_${name}`,
        text: `insert into ${table} select * from unnest($1::${table}[])`,
        values: [come.map(([, version]) => version.image)],
      });
    }
    for (const [key] of removed) versions.delete(key);
    for (const [key, version] of come) versions.set(key, version);
  }

  /** The rows that a client must hold. */
  holding(views: readonly OracleView[], viewer: Viewer): Promise<Holding> {
    return fullRead(this.#client, views, viewer);
  }
}

/** Every view's current rows by the client's keys, from the client's database. */
export async function fullRead(client: Client, views: readonly OracleView[], viewer: Viewer): Promise<Holding> {
  const holding = new Map<string, string>();
  for (const view of views) {
    for (const { key, line } of await rowsOf(client, view, viewer)) {
      const clientKey = keyOf(
        view,
        key.map((text, i) => (isExact(view, i) ? sentNumber(text) : text)),
      );
      if (holding.has(clientKey)) throw new Error(`the oracle's view has two rows with the key ${clientKey}`);
      holding.set(clientKey, comparable(view, JSON.parse(line)));
    }
  }
  return holding;
}

function isExact({ key, columns }: OracleView, index: number): boolean {
  return columns.some(({ name, exact }) => exact && name === key[index]);
}

/** An exact number, formatted as it is sent: as a JSON number with at most 15 digits, otherwise as its text. */
function sentNumber(text: string): string {
  return text.replaceAll(/\D/g, '').length <= 15 ? String(Number(text)) : text;
}

async function rowsOf(client: Client, view: OracleView, viewer: Viewer): Promise<{ key: string[]; line: string }[]> {
  const { text, values } = view.query(viewer);
  const columns = view.columns.map(({ name, exact }) => `q."${name}"${exact ? '::text' : ''} as "${name}"`);
  const { rows } = await client.query<{ key: string[]; line: string }>({
    name: `${view.name} ${viewer.role}`,
    text: `select array[${view.key.map((column) => `q."${column}"::text`).join()}] as key,
      (select row_to_json(line.*)::text from (select ${columns.join(', ')}) line) as line
      from (${text}) q`,
    values: [...values],
  });
  return rows;
}
