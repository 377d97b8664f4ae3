/** The connections that write. */
import type { Client } from 'pg';
import { type CaseDatabase, run } from './database.js';
import type { Step } from './steps.js';
import { count, type Tally } from './tally.js';
import { type List, textOf } from './tree.js';

type Transaction = Extract<Step, { kind: 'transaction' }>;

/** Servers check the tables' schema hashes once a second. */
const noticeMs = 1_100;

/** TRUNCATE of a whole table also truncates the tables that refer to it. */
function isOfPartition(text: string): boolean {
  return text.startsWith('truncate ') && !text.endsWith(' cascade');
}

export class Writers {
  readonly #database: CaseDatabase;
  readonly #tally: Tally;
  readonly #clients = new Map<number, Client>();
  readonly #open = new Set<Client>();
  /** The open connections that have truncated a single partition. */
  readonly #truncating = new Set<Client>();
  #truncatedAt = Number.NEGATIVE_INFINITY;
  /** Grows whenever readers may see other data. */
  version = 0;

  constructor(database: CaseDatabase, tally: Tally) {
    this.#database = database;
    this.#tally = tally;
  }

  async perform({ connection, statements, end, undoneFrom }: Transaction): Promise<void> {
    const client = await this.#clientOf(connection);
    if (!this.#open.has(client)) await client.query('begin');
    this.#open.add(client);
    for (const [i, statement] of statements.items.entries()) {
      if (i === undoneFrom) await client.query('savepoint undone');
      await this.#try(client, textOf(statement));
    }
    if (undoneFrom !== undefined && undoneFrom < statements.items.length) await client.query('rollback to undone');
    if (end !== 'open') await this.#end(client, end);
  }

  async commitOpen(): Promise<void> {
    for (const client of this.#open) await this.#end(client, 'commit');
  }

  /** Changes the schema while no transaction is open, and skips statements that fail. */
  async define(statements: List): Promise<void> {
    await this.commitOpen();
    const client = await this.#clientOf(0);
    for (const statement of statements.items) {
      await client.query(textOf(statement)).catch((error: Error) => this.#failed(error));
    }
    this.version++;
  }

  /** Changes the physical order of the tables' rows without changing any. */
  async reorder(): Promise<void> {
    await this.commitOpen();
    const client = await this.#clientOf(0);
    await client.query(reordering);
    this.version++;
  }

  /** The remaining milliseconds in which a server may not have detected that a single partition was truncated. */
  unnoticedMs(): number {
    return this.#truncatedAt + noticeMs - performance.now();
  }

  /** A failed statement undoes nothing else. */
  async #try(client: Client, text: string): Promise<void> {
    this.#tally.statements++;
    await client.query('savepoint fuzz');
    try {
      await run(client, text);
      if (isOfPartition(text)) this.#truncating.add(client);
    } catch (error) {
      this.#failed(error as Error);
      await client.query('rollback to fuzz');
    }
  }

  #failed(error: Error): void {
    count(this.#tally.failures, error.message.replace(/"[^"]*"/g, '"…"'));
  }

  /** A deferred constraint can turn a commit into a rollback. */
  async #end(client: Client, end: 'commit' | 'rollback'): Promise<void> {
    this.#open.delete(client);
    await client.query(end).catch((error: Error) => this.#failed(error));
    if (this.#truncating.delete(client)) this.#truncatedAt = performance.now();
    this.version++;
  }

  async #clientOf(connection: number): Promise<Client> {
    const existing = this.#clients.get(connection);
    if (existing) return existing;
    const client = await this.#database.connect();
    // A statement that waits for a lock waits for another of these connections, which waits for it in turn.
    await client.query(`set lock_timeout = '50ms'`);
    this.#clients.set(connection, client);
    return client;
  }
}

/** An updated row moves to the end of its table. If a table has no column that can be set, all its rows are equal. */
const reordering = `
do $$
declare t record;
begin
  for t in
    select distinct on (c.oid) c.oid::regclass as name, quote_ident(a.attname) as col
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
    where relkind = 'r' and nspname !~ '^pg_' and nspname not in ('information_schema', 'tidemark')
    order by c.oid, a.attnum
  loop
    begin
      execute format(
        'update %1$s set %2$s = %2$s where ctid in (select ctid from %1$s order by ctid limit (select count(*) / 2 from %1$s))',
        t.name, t.col
      );
    exception when undefined_column or object_not_in_prerequisite_state then
      -- Its capture awaits a migration, or a publication wants a replica identity that it lacks: nobody can write to it.
      null;
    end;
  end loop;
end $$`;
