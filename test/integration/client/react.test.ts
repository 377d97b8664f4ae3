import { createElement, Suspense } from 'react';
import { renderToString } from 'react-dom/server';
import { describe, expect, it } from 'vitest';
import type { mutators } from '../../../examples/tasks/src/mutators.js';
import {
  createClientContext,
  usePending,
  useRefused,
  useRow,
  useStatus,
  useSuspenseView,
  useView,
} from '../../../packages/client/src/react.js';
import type { views } from '../../support/whole-views.js';
import { useApplication } from './application.js';

const application = useApplication();
const { ClientProvider, useClient } = createClientContext<typeof mutators, typeof views>();

function Page() {
  const client = useClient();
  const lists = useView(client, 'list');
  const row = useRow(client, 'list', 'a');
  return JSON.stringify([lists, row === undefined, useStatus(client).state, usePending(client), useRefused(client)]);
}

it('hooks return their initial values on a server, and subscribe to nothing', async () => {
  await application.server.pool.query("insert into list (id, owner_id, name) values ('a', 'ann', 'Garden')");
  const client = application.client();
  await expect.poll(() => client.view('list').list()).toHaveLength(1);
  client.setOnline(false);
  await client.mutate.list.create({ id: 'b', name: 'Shopping' });
  const html = renderToString(createElement(ClientProvider, { client }, createElement(Page)));
  expect(JSON.parse(html.replaceAll('&quot;', '"'))).toEqual([{ complete: false }, true, 'connecting', [], []]);
});

describe('a page rendered on a server', () => {
  const initial = [{ id: 'a', name: 'Garden', ownerID: 'ann' }];

  it.each([
    ['useView', useView],
    ['useSuspenseView', useSuspenseView],
  ])('shows the initial rows of %s, even if the client has others', async (_, useRows) => {
    const client = application.client();
    await client.mutate.list.create({ id: 'b', name: 'Shopping' });
    const Names = () => {
      const { rows, complete } = useRows(client, 'list', { initial });
      return `${complete} ${rows?.map(({ name }) => name)}`;
    };
    expect(renderToString(createElement(Names))).toBe('false Garden');
  });

  it('does not suspend without initial rows', async () => {
    const client = application.client();
    const Names = () => JSON.stringify(useSuspenseView(client, 'list'));
    const html = renderToString(createElement(Suspense, { fallback: 'suspended' }, createElement(Names)));
    expect(html.replaceAll('&quot;', '"')).toBe('<!--$-->{"rows":[],"complete":false}<!--/$-->');
  });
});

it('hooks take bigints as keys', () => {
  const client = application.client();
  const Rows = () => JSON.stringify([useRow(client, 'list', 7n), useView(client, 'list', { after: 7n })]);
  expect(renderToString(createElement(Rows))).toBe('[null,{&quot;complete&quot;:false}]');
});

it('a component without a provider fails with an error that says what to do', () => {
  const error = { code: 'no-client', message: /<ClientProvider client=\{…\}>/ };
  expect(() => renderToString(createElement(Page))).toThrow(expect.objectContaining({ code: error.code }));
  expect(() => renderToString(createElement(Page))).toThrow(error.message);
});
