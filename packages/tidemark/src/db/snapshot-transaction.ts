import type { Pool, QueryConfig } from 'pg';
import { checkOut } from './checkout.js';
import type { Database, Statement } from './database.js';
import { sameFormats } from './own-settings.js';
import type { NamedStatements } from './poolers/named-statements.js';
import { failExplained } from './poolers/settings.js';

/** The time limit of statements without a `timeoutMs`. */
const defaultLimitMs = 3_000;
/** The time to wait beyond a statement's limit. After that, the connection counts as unresponsive. */
const graceMs = 1_000;

const begin = `begin isolation level repeatable read read only; ${sameFormats}; set local statement_timeout = ${defaultLimitMs}; savepoint sound`;

/** Implements `Database.inSnapshot`: a read-only transaction, with a savepoint to return to when a statement fails. */
export async function inSnapshot<T>(
  pool: Pool,
  names: NamedStatements,
  work: (query: Database['query']) => Promise<T>,
): Promise<T> {
  const checkout = await checkOut(pool);
  let limitMs = defaultLimitMs;
  // The driver's types lack `query_timeout` for a single query.
  const run = (config: QueryConfig) => checkout.client.query({ ...config, ...{ query_timeout: limitMs + graceMs } });
  const query = async <Row>(statement: Statement): Promise<Row[]> => {
    const { text, values = [], timeoutMs = defaultLimitMs } = statement;
    const name = names.nameOf(statement);
    if (timeoutMs !== limitMs) await run({ text: `set local statement_timeout = ${timeoutMs}` });
    limitMs = timeoutMs;
    if (name !== undefined) checkout.prepares(name);
    try {
      return (await run({ text, values: [...values], name })).rows as Row[];
    } catch (error) {
      await run({ text: 'rollback to savepoint sound' });
      limitMs = defaultLimitMs;
      if (name === undefined || !names.areWhy(error)) throw error;
      return query({ text, values, timeoutMs });
    }
  };
  let isSound = false;
  try {
    await run({ text: begin }).catch(failExplained);
    const result = await work(query);
    // The results remain valid even if the commit fails.
    isSound = await run({ text: 'commit' }).then(
      () => true,
      () => false,
    );
    return result;
  } finally {
    checkout.release(!isSound);
  }
}
