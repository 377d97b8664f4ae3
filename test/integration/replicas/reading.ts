/** A server that reads from standbys, with a record of the statements for each database. */
import pg from 'pg';
import { defineMutator, defineMutators } from '../../../packages/tidemark/src/registry/mutators.js';
import { createSync, type Sync } from '../../../packages/tidemark/src/server.js';
import type { SyncOptions } from '../../../packages/tidemark/src/sync-options.js';
import { memoryLog } from '../../support/log.js';
import type { PullAnswer } from '../../support/synced.js';

export interface User {
  readonly userID: string;
}

const mutators = defineMutators({
  put: defineMutator(async ({ tx, args }) => {
    const { id, n } = args as { id: string; n: number };
    await tx.query('insert into item values ($1, $2) on conflict (id) do update set n = excluded.n', [id, n]);
  }),
});

type Options = Omit<SyncOptions<User, pg.ClientBase>, 'mutators'>;

export class ReadingServer {
  readonly #sync: Sync;
  readonly #pools: readonly pg.Pool[];
  readonly #statements: Record<string, string[]>;
  readonly lines: ReturnType<typeof memoryLog>['lines'];
  #groups = 0;

  private constructor(
    sync: Sync,
    pools: readonly pg.Pool[],
    statements: Record<string, string[]>,
    lines: ReturnType<typeof memoryLog>['lines'],
  ) {
    this.#sync = sync;
    this.#pools = pools;
    this.#statements = statements;
    this.lines = lines;
  }

  /** @param readURLs of the standbys, which are called `standby 0` and so on; the primary is called `primary` */
  static async start(url: string, readURLs: readonly string[], options: Partial<Options> & Pick<Options, 'views'>) {
    const statements: Record<string, string[]> = {};
    const pools = [url, ...readURLs].map((connectionString, i) => {
      const name = i === 0 ? 'primary' : `standby ${i - 1}`;
      statements[name] = [];
      return watchedPool(connectionString, statements[name]);
    });
    const [database, ...readDatabase] = pools as [pg.Pool, ...pg.Pool[]];
    const { log, lines } = memoryLog();
    const authenticate = ({ headers }: Request) => ({ userID: headers.get('Authorization') ?? 'ada' });
    const sync = await createSync({ database, readDatabase, mutators, authenticate, log, ...options });
    return new ReadingServer(sync, pools, statements, lines);
  }

  /** The texts or names of the statements for a database since the previous call. */
  takeStatements(name: string): string[] {
    return this.#statements[name]!.splice(0);
  }

  async pull(cookie: unknown, clientGroupID = 'group'): Promise<PullAnswer> {
    return (await this.answer(cookie, clientGroupID)).json();
  }

  /** The response to a pull, unread. */
  answer(cookie: unknown, clientGroupID = 'group'): Promise<Response> {
    return this.send('/sync/pull', { pullVersion: 1, ...this.#envelope(clientGroupID), cookie });
  }

  async push(id: number, name: string, args: unknown, clientGroupID = 'group'): Promise<void> {
    const mutations = [{ id, clientID: `client of ${clientGroupID}`, name, args, timestamp: 0 }];
    await this.send('/sync/push', { pushVersion: 1, ...this.#envelope(clientGroupID), mutations });
  }

  #envelope(clientGroupID: string) {
    return { clientGroupID, profileID: 'profile', schemaVersion: '' };
  }

  /** @throws Error unless the status is 200 */
  async send(path: string, body?: object, headers: Record<string, string> = {}): Promise<Response> {
    const init = body && { method: 'POST', body: JSON.stringify(body) };
    const request = new Request(`http://reading.test${path}`, {
      ...init,
      headers: { 'Content-Type': 'application/json', ...headers },
    });
    const response = await this.#sync.fetch(request);
    if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
    return response;
  }

  /** Counts pokes of a client group. */
  async subscribe(clientGroupID = 'group'): Promise<{ readonly count: number; end(): void }> {
    let count = 0;
    const end = await this.#sync.onPoke({ userID: 'ada' }, () => count++, { clientGroupID, profileID: 'profile' });
    return {
      get count() {
        return count;
      },
      end,
    };
  }

  async metrics(): Promise<string> {
    return (await this.send('/metrics')).text();
  }

  /** The standbys, by name, with true for those that serve reads. */
  async usage(): Promise<Record<string, boolean>> {
    const text = await this.metrics();
    const found = text.matchAll(/^tidemark_standby_used\{standby="([^"]+)"\} (\d)/gm);
    return Object.fromEntries([...found].map(([, name, used]) => [name, used === '1']));
  }

  newGroup(): string {
    return `group ${++this.#groups}`;
  }

  async close(): Promise<void> {
    await this.#sync.close();
    for (const pool of this.#pools) await pool.end();
  }
}

function watchedPool(connectionString: string, statements: string[]): pg.Pool {
  const pool = new pg.Pool({ connectionString });
  pool.on('error', () => {});
  pool.on('connect', (client) => {
    const query = client.query.bind(client) as (...args: unknown[]) => unknown;
    const watched = (statement: unknown, ...rest: unknown[]) => {
      const { name, text } = statement as { name?: string; text?: string };
      const is = typeof statement === 'string' ? statement : (name ?? text ?? 'copy');
      statements.push(is);
      return query(statement, ...rest);
    };
    client.query = watched as typeof client.query;
  });
  return pool;
}
