import { createElement } from 'react';
import { renderToString } from 'react-dom/server';
import { expect, it } from 'vitest';
import type { mutators } from '../../../examples/tasks/src/mutators.js';
import type { views } from '../../../examples/tasks/src/views.js';
import {
  createClientContext,
  usePending,
  useRefused,
  useRow,
  useStatus,
  useView,
} from '../../../packages/client/src/react.js';
import { useApplication } from './application.js';

const application = useApplication();
const { ClientProvider, useClient } = createClientContext<typeof mutators, typeof views>();

function Page() {
  const client = useClient();
  const shown = [useView(client, 'list') === undefined, useRow(client, 'list', 'a') === undefined];
  return JSON.stringify([...shown, useStatus(client).state, usePending(client), useRefused(client)]);
}

it('hooks return their initial values on a server, and subscribe to nothing', async () => {
  await application.server.pool.query("insert into list (id, owner_id, name) values ('a', 'ann', 'Garden')");
  const client = application.client();
  await expect.poll(() => client.view('list').list()).toHaveLength(1);
  client.setOnline(false);
  await client.mutate.list.create({ id: 'b', name: 'Shopping' });
  const html = renderToString(createElement(ClientProvider, { client }, createElement(Page)));
  expect(JSON.parse(html.replaceAll('&quot;', '"'))).toEqual([true, true, 'connecting', [], []]);
});

it('a page rendered on a server shows its initial rows', async () => {
  const client = application.client();
  const initial = [{ id: 'a', name: 'Garden', ownerID: 'ann' }];
  const Names = () => useView(client, 'list', { initial })?.map(({ name }) => name);
  expect(renderToString(createElement(Names))).toBe('Garden');
});

it('hooks take bigints as keys', () => {
  const client = application.client();
  const Rows = () => JSON.stringify([useRow(client, 'list', 7n), useView(client, 'list', { after: 7n })]);
  expect(renderToString(createElement(Rows))).toBe('[null,null]');
});

it('a component without a provider fails with an error that says what to do', () => {
  const error = { code: 'no-client', message: /<ClientProvider client=\{…\}>/ };
  expect(() => renderToString(createElement(Page))).toThrow(expect.objectContaining({ code: error.code }));
  expect(() => renderToString(createElement(Page))).toThrow(error.message);
});
