import type { Database, Edges, Statement } from '../../db/database.js';
import { parserLoaded } from '../../view/parse/syntax.js';
import { MutatorClient } from './mutator-client.js';

/**
 * Precedes Tidemark's own last statements if mutators may have set a role that lacks the privileges. Deferred triggers
 * run before that, still with the mutators' role: before Postgres 18, they run as the role that commits.
 */
const asConnected: readonly Statement[] = [
  { text: 'set constraints all immediate' },
  { text: 'set local session authorization default' },
];

/**
 * Runs mutators in a transaction, as `Database.transact` does. Commits nothing if a mutator tried to end the
 * transaction. Closes the connection if its state may have changed, because its next transaction may be another user's.
 * @param requestID included in `application_name` while the transaction is open. Default: the name stays unchanged.
 */
export async function transactWithMutators<T>(
  db: Database,
  work: (client: MutatorClient, edges: Edges) => Promise<T>,
  first: readonly Statement[],
  requestID?: string,
): Promise<T> {
  await parserLoaded;
  const beginning = requestID === undefined ? first : [...first, nameAfter(requestID)];
  return db.transact(async (connection, edges) => {
    const client = new MutatorClient(connection);
    const last: Statement[] = [];
    try {
      const result = await work(client, { first: edges.first, last });
      client.check();
      if (last.length > 0 && !client.isPlain) edges.last.push(...asConnected);
      edges.last.push(...last);
      return result;
    } finally {
      client.close();
      edges.discard = client.mayLast;
    }
  }, beginning);
}

/** Makes a session in `pg_stat_activity` or a line in Postgres's log lead to the request in the server's log. */
function nameAfter(requestID: string): Statement {
  return { text: 'set local application_name = $1', values: [`tidemark ${requestID}`] };
}
