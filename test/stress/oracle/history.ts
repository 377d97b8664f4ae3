/**
 * Every row at every snapshot, recorded by the oracle itself.
 *
 * A trigger deferred to the commit records the final row of each key that the transaction touched, so the order of
 * events within a transaction does not matter. Between transactions, row locks define the order. A deferrable key can
 * occur twice until the commit, without such a lock. The trigger then checks the key first, which waits for its other
 * holders. There, a transaction may also have held a key beside another one's row and given it up, which is no change.
 */
import type { Pool } from 'pg';
import { type OracleTable, tables } from './schema.js';
import { SeenTransactions } from './snapshots.js';

const nameOf = (table: OracleTable) => `${table.schema}.${table.name}`;

/** Equal keys have equal text: 1.0 and 1.00 are one key. */
function keySql(table: OracleTable, alias: string): string {
  const parts = table.primaryKey.map((column) => `'/' || ${alias}.${column}::text`);
  return table.name === 'price' ? `trim_scale(${alias}.amount)::text` : parts.join(' || ');
}

function recordSql(table: OracleTable): string {
  const name = nameOf(table);
  const hook = `oracle.record_${table.name}`;
  const record = (alias: string) => {
    const there = `from ${name} now_there
      where ${table.primaryKey.map((column) => `now_there.${column} = ${alias}.${column}`).join(' and ')}`;
    const ofAnother = `select ${there} and pg_xact_status(now_there.xmin::text::xid8) = 'committed'`;
    const insert = `
    insert into oracle.history (xid, relation, key, image)
    select pg_current_xact_id(), '${name}', ${keySql(table, alias)}, (select now_there::text ${there})`;
    if (!table.deferrableKey) return `${insert};`;
    return `
    perform pg_advisory_xact_lock(hashtext('${name}' || ${keySql(table, alias)}));${insert}
    where not exists (${ofAnother});`;
  };
  return `
    create function ${hook}() returns trigger language plpgsql as $$
    begin
      ${table.deferrableKey ? `set constraints ${table.deferrableKey} immediate;` : ''}
      if tg_op = 'TRUNCATE' then
        insert into oracle.history (xid, relation) values (pg_current_xact_id(), '${name}');
        return null;
      end if;
      if tg_op <> 'INSERT' then ${record('old')} end if;
      if tg_op <> 'DELETE' then ${record('new')} end if;
      return null;
    end $$;
    create constraint trigger record_rows after insert or update or delete on ${name}
      deferrable initially deferred for each row execute function ${hook}();
    create trigger record_truncate after truncate on ${name} for each statement execute function ${hook}();`;
}

export const historySql = `
  create schema oracle;
  create table oracle.history (
    seq bigint generated always as identity, xid xid8 not null, relation text not null, key text, image text
  );
  create index on oracle.history (xid);
  ${tables.map(recordSql).join('\n')}
`;

export interface Version {
  readonly seq: number;
  readonly xid: bigint;
  /** The row as text; null if it was deleted. */
  readonly image: string | null;
}

interface HistoryRow {
  readonly snapshot: string;
  readonly seq: string | null;
  readonly xid: string;
  readonly relation: string;
  readonly key: string | null;
  readonly image: string | null;
}

interface Relation {
  readonly versions: Map<string, Version[]>;
  readonly truncates: Version[];
}

/** The rows of each table by key, as a snapshot sees them. */
export type State = ReadonlyMap<string, ReadonlyMap<string, Version>>;

export class History {
  readonly #pool: Pool;
  readonly #relations = new Map<string, Relation>(
    tables.map((table) => [nameOf(table), { versions: new Map(), truncates: [] }]),
  );
  #read = new SeenTransactions('1:1:');
  #forgotten: SeenTransactions | undefined;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  async snapshot(): Promise<SeenTransactions> {
    const { rows } = await this.#pool.query<{ snapshot: string }>({
      name: 'snapshot',
      text: 'select pg_current_snapshot()::text as snapshot',
    });
    return new SeenTransactions(rows[0]!.snapshot);
  }

  /** Reads what has been committed since the previous call. */
  async readOn(): Promise<void> {
    const { rows } = await this.#pool.query<HistoryRow>({
      name: 'read_on',
      text: `select s.snapshot, h.seq, h.xid, h.relation, h.key, h.image
        from (select pg_current_snapshot()::text as snapshot) s
        left join oracle.history h on h.xid >= $1::xid8 or h.xid = any ($2::xid8[])
        order by h.seq`,
      values: [String(this.#read.xmax), `{${this.#read.running.join()}}`],
    });
    for (const row of rows) if (row.seq !== null) this.#add(row);
    this.#read = new SeenTransactions(rows[0]!.snapshot);
  }

  #add({ relation, key, seq, xid, image }: HistoryRow): void {
    const { versions, truncates } = this.#relations.get(relation)!;
    const version = { seq: Number(seq), xid: BigInt(xid), image };
    const list = key === null ? truncates : (versions.get(key) ?? []);
    const last = list.at(-1);
    if (last && last.seq > version.seq) throw new Error(`the oracle's history of ${relation} ${key} is out of order`);
    list.push(version);
    if (key !== null) versions.set(key, list);
  }

  /** True if everything that this snapshot sees has been read. */
  has(seen: SeenTransactions): boolean {
    return this.#read.covers(seen);
  }

  stateAt(seen: SeenTransactions): State {
    if (this.#forgotten && !seen.covers(this.#forgotten)) throw new Error('the oracle has forgotten this snapshot');
    const state = new Map<string, Map<string, Version>>();
    for (const [name, { versions, truncates }] of this.#relations) {
      const truncated = lastSeen(truncates, seen)?.seq ?? 0;
      const rows = new Map<string, Version>();
      for (const [key, list] of versions) {
        const version = lastSeen(list, seen);
        if (version && version.image !== null && version.seq > truncated) rows.set(key, version);
      }
      state.set(name, rows);
    }
    return state;
  }

  /** Drops versions that no snapshot covering this one can need. */
  forgetBefore(seen: SeenTransactions): void {
    this.#forgotten = seen;
    for (const { versions } of this.#relations.values()) {
      for (const [key, list] of versions) {
        const last = list.findLastIndex((version) => seen.sees(version.xid));
        if (last > 0) versions.set(key, list.slice(last));
      }
    }
  }
}

function lastSeen(versions: readonly Version[], seen: SeenTransactions): Version | undefined {
  return versions.findLast((version) => seen.sees(version.xid));
}
