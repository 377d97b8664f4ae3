/** Views whose keys do not begin with the view's name. The option `prefixes` names their prefixes. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import {
  type AnyViews,
  type Client,
  type ClientTransaction,
  createClient,
} from '../../../packages/client/src/index.js';
import type { UserContext } from '../../../packages/tidemark/src/context.js';
import { defineView, type Views } from '../../../packages/tidemark/src/view/define.js';
import { startServer, type TestServer } from '../conformance/server.js';

const setup = `
  create table note (id text primary key, body text not null);
  insert into note values ('1', 'Hello');
  create table task (list_id text, id text, body text not null, primary key (list_id, id));
  insert into task values ('7', '42', 'Milk'), ('8', '1', 'Roses');`;

const views: Views<UserContext> = {
  note: defineView({
    query: () => ({ text: 'select id, body from note', values: [] }),
    key: 'id',
    prefix: ({ ctx }) => `own/${ctx.userID}/`,
  }),
  task: defineView({
    query: () => ({ text: 'select list_id, id, body from task', values: [] }),
    key: 'list/{list_id}/todo/{id}',
  }),
};

const mutators = {
  async write(tx: ClientTransaction<AnyViews>) {
    for (const view of ['note', 'task']) {
      const rows = tx.view(view);
      for (const { key } of expectedRows[view]!) await rows.update(key, { body: `${(await rows.count()) + 1} rows` });
      await rows.set('new', { body: 'New' });
    }
  },
};

const expectedRows: Record<string, readonly { readonly key: string; readonly row: object }[]> = {
  note: [{ key: '1', row: { id: '1', body: 'Hello' } }],
  task: [
    { key: '7/todo/42', row: { list_id: '7', id: '42', body: 'Milk' } },
    { key: '8/todo/1', row: { list_id: '8', id: '1', body: 'Roses' } },
  ],
};

let server: TestServer;
let client: Client<unknown, AnyViews>;
beforeAll(async () => {
  server = await startServer({ views, setup });
  client = createClient<unknown, AnyViews>({
    user: randomUUID(),
    url: server.url,
    auth: 'Bearer ann',
    kvStore: 'mem',
    prefixes: { note: 'own/ann/', task: 'list/' },
    mutators: mutators as never,
  });
  await vi.waitUntil(async () => (await client.view('task').list()).length === 2, { timeout: 30_000 });
});
afterAll(async () => {
  await client?.close();
  await server?.close();
});

it.each(Object.entries(expectedRows))(
  'the rows of the view "%s" are found by their keys without the prefix',
  async (name, entries) => {
    const view = client.view(name);
    expect(await view.list()).toEqual(entries.map(({ row }) => row));
    expect(await view.count()).toBe(entries.length);
    for (const { key, row } of entries) expect(await view.get(key)).toEqual(row);
    const watched = vi.fn();
    const stop = view.watch(watched);
    await expect.poll(() => watched.mock.calls).toEqual([[entries]]);
    stop();
  },
);

it('mutators find rows by keys without the prefix, and insert new ones', async () => {
  client.setOnline(false);
  await (client.mutate as unknown as { write(): Promise<void> }).write();
  for (const [name, entries] of Object.entries(expectedRows)) {
    const body = `${entries.length + 1} rows`;
    expect(await client.view(name).list()).toEqual([...entries.map(({ row }) => ({ ...row, body })), { body: 'New' }]);
    expect(await client.view(name).get('new')).toEqual({ body: 'New' });
  }
});
