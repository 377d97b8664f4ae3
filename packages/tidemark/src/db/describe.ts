/** Describes queries without running them. */
import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { checkOut } from './checkout.js';
import type { ParameterKind, QueryDescription, ResultColumn } from './database.js';
import { sameFormats, sendOwnSettings } from './own-settings.js';

/**
 * Several statements in one message form one transaction, which a pooler in transaction mode keeps on one connection.
 * The settings end with the transaction, even if Postgres rejects the query.
 */
const opening = `
  ${sameFormats};
  set local client_min_messages = log;
  set local debug_pretty_print = off;
  set local debug_print_parse = on;
  prepare `;

const closing = (name: string): string => `;
  set local debug_print_parse = off;
  with recursive json (oid) as (
    select unnest(array['json', 'jsonb']::regtype[])::oid
    union all
    select t.oid from json join pg_type t on t.typbasetype = json.oid
  )
  select
    coalesce(array_agg(concat(quote_ident(n.nspname), '.', quote_ident(t.typname)) order by ordinal), '{}') as types,
    coalesce(array_agg(case
      when t.typcategory = 'A' then 'array'
      when json.oid is not null then 'json'
      else 'other'
    end order by ordinal), '{}') as kinds
  from pg_prepared_statements p
  cross join unnest(p.parameter_types::oid[]) with ordinality u (oid, ordinal)
  join pg_type t on t.oid = u.oid join pg_namespace n on n.oid = t.typnamespace
  left join json on json.oid = t.oid
  where p.name = '${name}';
  deallocate ${name}`;

/** Matches the tree of a SELECT. The trees of utility statements contain no analysis. */
const analyzed = /^\s*\{QUERY\s+:commandType 1\s/;

/**
 * Describes a SELECT without planning or running it.
 * @param parameterTypes the SQL names of the parameters' types; without them, Postgres infers each type
 * @throws Postgres's error if it rejects the query.
 */
export async function describeQuery(
  pool: pg.Pool,
  text: string,
  parameterTypes: readonly string[] = [],
): Promise<QueryDescription> {
  const checkout = await checkOut(pool);
  const { client } = checkout;
  // If interrupted, this may leave the statement on a pooler's connection, so its name must not collide with others.
  const name = `tidemark_described_${randomUUID().replaceAll('-', '')}`;
  const before = `${opening}${name}${parameterTypes.length > 0 ? `(${parameterTypes.join(', ')})` : ''} as `;
  const trees: string[] = [];
  const onNotice = ({ message, detail }: { message?: string | undefined; detail?: string | undefined }) => {
    if (message === 'parse tree:' && detail !== undefined && analyzed.test(detail)) trees.push(detail);
  };
  client.on('notice', onNotice);
  try {
    // The driver's types assume a single statement. For several, it returns an array of results.
    const results: unknown = await client.query(`${before}${text}\n${closing(name)}`);
    const [row] = (results as pg.QueryResult<{ types: string[]; kinds: ParameterKind[] }>[]).find(
      ({ command }) => command === 'SELECT',
    )!.rows;
    const { types, kinds } = row!;
    return { parameterTypes: types, parameterKinds: kinds, tree: trees[0]!, offset: Buffer.byteLength(before) };
  } finally {
    client.off('notice', onNotice);
    checkout.release();
  }
}

/** Describes the columns of a query's result. Binds no values to parameters, since a domain may not accept nulls. */
export async function describeColumns(pool: pg.Pool, text: string): Promise<ResultColumn[]> {
  const checkout = await checkOut(pool);
  try {
    return await new Promise(
      (resolve, reject) => void checkout.client.query(new DescribeRequest(text, resolve, reject)),
    );
  } finally {
    checkout.release();
  }
}

/** A statement that the driver describes and never runs. */
class DescribeRequest implements pg.Submittable {
  readonly #text: string;
  readonly #resolve: (columns: ResultColumn[]) => void;
  readonly #reject: (error: Error) => void;
  #columns: ResultColumn[] = [];

  constructor(text: string, resolve: (columns: ResultColumn[]) => void, reject: (error: Error) => void) {
    this.#text = text;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  submit(connection: pg.Connection): void {
    sendOwnSettings(connection);
    connection.parse({ name: '', text: this.#text, types: [] }, true);
    connection.describe({ type: 'S', name: '' }, true);
    connection.sync();
  }

  handleRowDescription({ fields }: pg.QueryResultBase): void {
    this.#columns = fields.map(({ name, dataTypeID, tableID, columnID }) => ({
      name,
      typeOID: dataTypeID,
      ...(tableID !== 0 && { origin: { table: tableID, column: columnID } }),
    }));
  }

  /** Ignores the row of the settings. */
  handleDataRow(): void {}

  handleCommandComplete(): void {}

  handleReadyForQuery(): void {
    this.#resolve(this.#columns);
  }

  handleError(error: Error): void {
    this.#reject(error);
  }
}
