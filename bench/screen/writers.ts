import { randomUUID } from 'node:crypto';
import pg from 'pg';

/** The clock times between which a write was committed. */
export interface Written {
  readonly before: number;
  readonly after: number;
}

/** Gives the watched todo another title. */
export type Writer = (title: string) => Promise<Written>;

export const watched = { list: 'Home', id: 'ann-home-1' } as const;

async function timed(write: () => Promise<unknown>): Promise<Written> {
  const before = Date.now();
  await write();
  return { before, after: Date.now() };
}

/** Another user's client, which pushes to the server at `url`. */
export function pusher(url: string): Writer {
  const [clientGroupID, clientID] = [randomUUID(), randomUUID()];
  let id = 0;
  return (title) => {
    const mutation = { id: ++id, clientID, name: 'todo.update', args: { id: watched.id, title }, timestamp: 0 };
    const body = { pushVersion: 1, profileID: 'bench', clientGroupID, schemaVersion: '', mutations: [mutation] };
    return timed(async () => {
      const headers = { 'Content-Type': 'application/json', Authorization: 'Bearer ben' };
      const response = await fetch(`${url}/sync/push`, { method: 'POST', headers, body: JSON.stringify(body) });
      if ((await response.text()) !== '{}') throw new Error(`the push was answered with status ${response.status}`);
    });
  };
}

export async function sqlWriter(database: string): Promise<{ write: Writer; end(): Promise<void> }> {
  const client = new pg.Client({ connectionString: database });
  await client.connect();
  return {
    write: (title) => timed(() => client.query('update todo set title = $1 where id = $2', [title, watched.id])),
    end: () => client.end(),
  };
}
