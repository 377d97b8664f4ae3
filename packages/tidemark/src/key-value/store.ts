import type { ClientBase } from 'pg';
import { identifier } from '../sql.js';

/** The rows that hold the values of all keys with one prefix. */
export type KeyValueRows = {
  /** The table, or a pair of its schema and name. */
  readonly table: string | readonly [schema: string, table: string];
  /** The column with the part of a key after its prefix. */
  readonly key: string;
  /**
   * Columns with the same value in all of these rows, such as the owner's or the space's. Rows with other values are
   * invisible, and new rows get these values. Default: none.
   */
  readonly where?: Readonly<Record<string, unknown>> | undefined;
} & (
  | {
      /** The columns that are the fields of a value, which must be an object. Missing fields become NULL. */
      readonly columns: readonly string[];
    }
  | {
      /** The column with the value, of the type `jsonb` or `json`. */
      readonly value: string;
    }
);

/** The part of a key after its prefix, and the key's value. */
export interface StoredRow {
  readonly key: string;
  readonly value: unknown;
}

/** A range of keys to read, in byte order. */
export interface Range {
  /** The prefix of the keys, after the store's own prefix. */
  readonly prefix: string;
  /** The full key to start at, or to start after if `exclusive` is set. */
  readonly start?: { readonly key: string; readonly exclusive?: boolean | undefined } | undefined;
  readonly limit?: number | undefined;
}

/** Reads and writes the rows of one prefix. */
export class Store {
  readonly prefix: string;
  readonly #client: Pick<ClientBase, 'query'>;
  readonly #rows: KeyValueRows;
  readonly #table: string;
  readonly #key: string;
  /** The SQL expression of the value, as JSON. */
  readonly #value: string;
  readonly #where: readonly (readonly [column: string, value: unknown])[];

  constructor(client: Pick<ClientBase, 'query'>, prefix: string, rows: KeyValueRows) {
    this.prefix = prefix;
    this.#client = client;
    this.#rows = rows;
    this.#table = identifier(...[rows.table].flat());
    this.#key = identifier(rows.key);
    this.#value =
      'value' in rows
        ? identifier(rows.value)
        : `(select row_to_json(r) from (select ${rows.columns.map((column) => identifier(column)).join()}) r)`;
    this.#where = Object.entries(rows.where ?? {});
  }

  async get(key: string): Promise<StoredRow | undefined> {
    const { text, values } = this.#condition([key], `${this.#key} = $1`);
    return (await this.#read(`where ${text}`, values))[0];
  }

  async scan({ prefix, start, limit }: Range): Promise<StoredRow[]> {
    const params: unknown[] = [prefix];
    const conditions = [`starts_with(${this.#key}::text, $1)`];
    if (start) {
      const whole = `($${params.push(this.prefix)}::text || ${this.#key}::text) collate "C"`;
      conditions.push(`${whole} ${start.exclusive ? '>' : '>='} $${params.push(start.key)}`);
    }
    const { text, values } = this.#condition(params, ...conditions);
    const order = `order by ${this.#key}::text collate "C"`;
    return this.#read(`where ${text} ${order} limit $${values.length + 1}`, [...values, limit ?? null]);
  }

  /** @throws TypeError if the value does not fit the columns */
  async set(key: string, value: unknown): Promise<void> {
    const record = { ...this.#recordOf(key, value), ...this.#rows.where };
    const columns = [...new Set([this.#rows.key, ...this.#columns(), ...Object.keys(this.#rows.where ?? {})])];
    const names = columns.map((column) => identifier(column)).join();
    // `jsonb_populate_record` turns a JSON null into NULL.
    const isValue = (column: string) => 'value' in this.#rows && column === this.#rows.value;
    const read = columns.map((column) => (isValue(column) ? `coalesce(${this.#value}, 'null')` : identifier(column)));
    const rowSql = `select ${read.join()} from jsonb_populate_record(null::${this.#table}, $1)`;
    const { text, values } = this.#condition([JSON.stringify(record), key], `${this.#key} = $2`);
    // ON CONFLICT would have to name the columns that make a row unique.
    const updated = await this.#client.query(
      `update ${this.#table} set (${names}) = (${rowSql}) where ${text}`,
      values,
    );
    if (updated.rowCount === 0) {
      await this.#client.query(`insert into ${this.#table} (${names}) ${rowSql}`, [JSON.stringify(record)]);
    }
  }

  /** Deletes a key. Returns true if it existed. */
  async del(key: string): Promise<boolean> {
    const { text, values } = this.#condition([key], `${this.#key} = $1`);
    return (await this.#client.query(`delete from ${this.#table} where ${text}`, values)).rowCount !== 0;
  }

  async #read(rest: string, values: unknown[]): Promise<StoredRow[]> {
    const text = `select ${this.#key}::text as key, ${this.#value} as value from ${this.#table} ${rest}`;
    return (await this.#client.query<StoredRow>(text, values)).rows;
  }

  /** Joins these conditions with those that all rows meet. `params` are the first parameters of the statement. */
  #condition(params: readonly unknown[], ...conditions: string[]): { text: string; values: unknown[] } {
    const values = [...params];
    const fixed = this.#where.map(([column, value]) => `${identifier(column)} = $${values.push(value)}`);
    return { text: [...conditions, ...fixed].join(' and '), values };
  }

  #columns(): readonly string[] {
    return 'value' in this.#rows ? [this.#rows.value] : this.#rows.columns;
  }

  #recordOf(key: string, value: unknown): Record<string, unknown> {
    const { key: keyColumn } = this.#rows;
    if ('value' in this.#rows) return { [keyColumn]: key, [this.#rows.value]: value };
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw new TypeError(`The values under "${this.prefix}" are rows: each must be an object`);
    }
    const unknown = Object.keys(value).find((field) => !this.#columns().includes(field));
    if (unknown !== undefined) {
      throw new TypeError(`A value under "${this.prefix}" has the field "${unknown}", which is not among the columns`);
    }
    const record = value as Record<string, unknown>;
    if (keyColumn in record && String(record[keyColumn]) !== key) {
      throw new TypeError(`A value under "${this.prefix}" has another "${keyColumn}" than its key`);
    }
    return { ...record, [keyColumn]: key };
  }
}
