/**
 * The settings that statements of our own run with, whatever the role, the database or the application's pool has set. They
 * last for one transaction, which may be that of a single statement, so a pooler never hands them to anyone else.
 */
import pg from 'pg';

/** For a transaction in which mutators run, too. Compiling a plan (JIT) takes longer than running most of them. */
export const jitOff: string = 'set local jit = off';

/**
 * Settings that decide how Postgres writes values and names, and how it reads them again. Servers with different roles must
 * write the same, since clients keep what they receive until a row changes; and images of rows in the change log must be
 * read as what they were. Time zones are up to the role, and so is the order of day and month in input.
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

/** For a transaction of our own that has its own time limits, or that Postgres is only to describe a query in. */
export const sameFormats: string = [
  jitOff,
  ...Object.entries(formats).map(([name, value]) => `set local ${name} = '${value}'`),
].join('; ');

const set = (name: string, value: string) => `set_config('${name}', '${value}', true)`;

/**
 * A query that sets this and lifts the time limits, since our own statements have others. It is not a SET LOCAL, which
 * would raise a warning ahead of a prepared statement. Postgres has `transaction_timeout` from 17 on.
 */
export const setOwn: string = `select ${[
  set('jit', 'off'),
  ...Object.entries(formats).map(([name, value]) => set(name, value)),
  set('statement_timeout', '0'),
  `case when current_setting('transaction_timeout', true) is not null then ${set('transaction_timeout', '0')} end`,
].join(', ')}`;

/**
 * Sends the messages that set this, up to the Sync message of the statement that follows. Postgres answers them with a row
 * and a completed command.
 */
export function sendOwnSettings(connection: pg.Connection): void {
  connection.parse({ name: '', text: setOwn, types: [] }, true);
  connection.bind({ portal: '', statement: '', values: [] }, true);
  connection.execute({ portal: '', rows: '' }, true);
}

/** The driver's types lack the `query_timeout` of a single query, in milliseconds. */
export interface OwnQueryConfig extends pg.QueryConfig {
  readonly query_timeout?: number | undefined;
}

/**
 * A statement for the driver that is planned with these settings. The messages that set them precede its own in the same
 * round trip: up to the Sync message, all are one transaction.
 * @see https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-EXT-QUERY
 */
export class OwnQuery extends pg.Query {
  /** The driver reads it here. */
  readonly query_timeout: number | undefined;
  #isSet = false;

  constructor(config: OwnQueryConfig, callback: (error: Error | undefined, result: pg.QueryResult) => void) {
    super({ ...config, ...{ queryMode: 'extended' } }, callback as never);
    this.query_timeout = config.query_timeout;
  }

  override submit = (connection: pg.Connection): Error | null => {
    connection.stream.cork();
    try {
      sendOwnSettings(connection);
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

/** What the driver's types do not tell of its queries. */
interface DriverQuery {
  submit(connection: pg.Connection): Error | null;
  handleDataRow(message: unknown): void;
  handleCommandComplete(message: unknown, connection: pg.Connection): void;
}

const driver = pg.Query.prototype as unknown as DriverQuery;
