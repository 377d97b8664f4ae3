import type { Database, Edges, Statement } from '../../db/database.js';
import { parserLoaded } from '../../view/parse/syntax.js';
import { MutatorClient } from './mutator-client.js';

/**
 * What precedes Tidemark's own last statements if mutators may have set a role that lacks the rights. Before Postgres 18,
 * deferred triggers run as whoever commits; that is still the mutators' role.
 */
const asConnected: readonly Statement[] = [
  { text: 'set constraints all immediate' },
  { text: 'set local session authorization default' },
];

/**
 * Runs work with mutators in a transaction, as `Database.transact` does. Commits nothing if a mutator tried to end the
 * transaction. Closes the connection if it might not be as it was: the next transaction on it may be another user's.
 * @param requestID what `application_name` says as long as the transaction is open. Default: what it says anyway.
 */
export async function transactWithMutators<T>(
  db: Database,
  work: (client: MutatorClient, edges: Edges) => Promise<T>,
  first: readonly Statement[],
  requestID?: string,
): Promise<T> {
  await parserLoaded;
  const beginning = requestID === undefined ? first : [...first, nameAfter(requestID)];
  return db.transact(async (own, { discard, ...edges }) => {
    const client = new MutatorClient(own);
    const last: Statement[] = [];
    try {
      const result = await work(client, { first: edges.first, last: (...more) => void last.push(...more) });
      client.check();
      if (last.length > 0 && !client.isPlain) last.unshift(...asConnected);
      edges.last(...last);
      return result;
    } finally {
      client.close();
      if (client.mayLast) discard();
    }
  }, beginning);
}

/** So that a session in `pg_stat_activity`, or a line in Postgres's log, leads to the request in the server's log. */
function nameAfter(requestID: string): Statement {
  return { text: 'set local application_name = $1', values: [`tidemark ${requestID}`] };
}
