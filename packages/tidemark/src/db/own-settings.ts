/**
 * The settings of Tidemark's own statements. They override those of the role, the database and the application's pool,
 * and last for one transaction, possibly of a single statement, so a pooler never passes them on to another client.
 */
import pg from 'pg';

/** For a transaction that also runs mutators. JIT compilation of a plan takes longer than running most plans. */
export const jitOff: string = 'set local jit = off';

/**
 * Settings that determine how Postgres writes values and names, and reads them back. Servers with different roles must
 * write the same text, because clients keep a row until it changes, and images of rows in the change log must read back
 * unchanged. The role still decides the time zone, and the order of day and month in input.
 */
const formats = {
  datestyle: 'ISO',
  intervalstyle: 'postgres',
  extra_float_digits: '1',
  bytea_output: 'hex',
  quote_all_identifiers: 'off',
  array_nulls: 'on',
  xmloption: 'content',
  lc_monetary: 'C',
};

/** For a transaction of Tidemark's own that has its own time limits, or that only describes a query. */
export const sameFormats: string = [
  jitOff,
  ...Object.entries(formats).map(([name, value]) => `set local ${name} = '${value}'`),
].join('; ');

const set = (name: string, value: string) => `set_config('${name}', '${value}', true)`;

const own: readonly string[] = [
  set('jit', 'off'),
  ...Object.entries(formats).map(([name, value]) => set(name, value)),
  set('statement_timeout', '0'),
  `case when current_setting('transaction_timeout', true) is not null then ${set('transaction_timeout', '0')} end`,
];

/**
 * A query that applies these settings and lifts the time limits, since Tidemark's statements have others. It is not a
 * SET LOCAL, which would raise a warning ahead of a prepared statement. `transaction_timeout` exists since Postgres 17.
 */
export const setOwn: string = `select ${own.join(', ')}`;

/**
 * The same for a prepared statement. By default, Postgres plans its first five runs on a connection for their values,
 * which takes longer than the statement itself.
 */
const setOwnPrepared = `select ${[...own, set('plan_cache_mode', 'force_generic_plan')].join(', ')}`;

/**
 * Sends the messages that apply these settings, up to the Sync message of the statement that follows. Postgres answers
 * them with a row and a CommandComplete.
 */
export function sendOwnSettings(connection: pg.Connection, isPrepared = false): void {
  connection.parse({ name: '', text: isPrepared ? setOwnPrepared : setOwn, types: [] }, true);
  connection.bind({ portal: '', statement: '', values: [] }, true);
  connection.execute({ portal: '', rows: '' }, true);
}

/** Adds the `query_timeout` of a single query, in milliseconds, which the driver's types lack. */
export interface OwnQueryConfig extends pg.QueryConfig {
  readonly query_timeout?: number | undefined;
}

/**
 * A statement that Postgres plans with these settings. The messages that apply them precede the statement's own in the
 * same round trip. Everything up to the Sync message is one transaction.
 * @see https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-EXT-QUERY
 */
export class OwnQuery extends pg.Query {
  /** The driver reads the timeout here. */
  readonly query_timeout: number | undefined;
  readonly #isPrepared: boolean;
  #isSet = false;

  constructor(config: OwnQueryConfig, callback: (error: Error | undefined, result: pg.QueryResult) => void) {
    super({ ...config, ...{ queryMode: 'extended' } }, callback as never);
    this.query_timeout = config.query_timeout;
    this.#isPrepared = config.name !== undefined;
  }

  override submit = (connection: pg.Connection): Error | null => {
    connection.stream.cork();
    try {
      sendOwnSettings(connection, this.#isPrepared);
      return driver.submit.call(this, connection);
    } finally {
      connection.stream.uncork();
    }
  };

  handleDataRow(message: unknown): void {
    if (this.#isSet) driver.handleDataRow.call(this, message);
  }

  handleCommandComplete(message: unknown, connection: pg.Connection): void {
    if (this.#isSet) driver.handleCommandComplete.call(this, message, connection);
    this.#isSet = true;
  }
}

/** The methods of the driver's queries that its types omit. */
interface DriverQuery {
  submit(connection: pg.Connection): Error | null;
  handleDataRow(message: unknown): void;
  handleCommandComplete(message: unknown, connection: pg.Connection): void;
}

const driver = pg.Query.prototype as unknown as DriverQuery;
