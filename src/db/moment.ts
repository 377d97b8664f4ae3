import type { Pool, QueryConfig } from 'pg';
import { checkOut } from './checkout.js';
import type { Database, Statement } from './database.js';
import { isStalePlan } from './sqlstate.js';

/** For statements that do not say how long they may take. */
const usualLimitMs = 3_000;
/** So much longer than a statement may take is waited for its end: then it is the connection that does not answer. */
const graceMs = 1_000;

const begin = `begin isolation level repeatable read read only; set local statement_timeout = ${usualLimitMs}; savepoint sound`;

/**
 * `Database.atOneMoment`: a transaction that only reads, with a savepoint to return to after a statement that failed.
 */
export async function atOneMoment<T>(pool: Pool, work: (query: Database['query']) => Promise<T>): Promise<T> {
  const checkout = await checkOut(pool);
  let limitMs = usualLimitMs;
  // The driver's types do not know of `query_timeout` for one query.
  const run = (config: QueryConfig) => checkout.client.query({ ...config, ...{ query_timeout: limitMs + graceMs } });
  const query = async <Row>({ text, values = [], name, timeoutMs = usualLimitMs }: Statement): Promise<Row[]> => {
    if (timeoutMs !== limitMs) await run({ text: `set local statement_timeout = ${timeoutMs}` });
    limitMs = timeoutMs;
    try {
      return (await run({ text, values: [...values], name })).rows as Row[];
    } catch (error) {
      await run({ text: 'rollback to savepoint sound' });
      limitMs = usualLimitMs;
      if (name === undefined || !isStalePlan(error)) throw error;
      return query({ text, values, timeoutMs });
    }
  };
  let isSound = false;
  try {
    await run({ text: begin });
    const result = await work(query);
    // What has been read stays true, whatever becomes of the end.
    isSound = await run({ text: 'commit' }).then(
      () => true,
      () => false,
    );
    return result;
  } finally {
    checkout.release(!isSound);
  }
}
