/** Pulls are compressed as the client accepts it; nothing else changes. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { defineMutator, defineMutators } from '../../../src/registry/mutators.js';
import { startServer, type TestServer } from './server.js';
import { type Answer, pullBody, send } from './wire.js';

const todos = 20_000;
const setup = `
  insert into list (id, owner_id, name) values ('a', 'ann', 'Groceries'), ('b', 'ben', 'Garden');
  insert into todo (id, list_id, title, sort) select 'a' || n, 'a', 'Milk', n from generate_series(1, ${todos}) n;
  insert into todo (id, list_id, title, sort) select 'b' || n, 'b', 'Rake', n from generate_series(1, 20) n`;

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ setup, mutators: defineMutators({ echo: defineMutator(async ({ args }) => args) }) });
});
afterAll(() => server.close());

function pullAs(user: string, encoding: string, on = server) {
  return send(on, '/sync/pull', pullBody({ clientGroupID: user }), { user, headers: { 'Accept-Encoding': encoding } });
}

/** All but the cookie, which tells of the transactions of other databases too. */
function textOfPatch({ text, body }: Answer): string {
  const cookie = `"cookie":${JSON.stringify(body.cookie)}`;
  expect(text).toContain(cookie);
  return text.replace(cookie, '');
}

it.each([
  ['br', 'ann'],
  ['gzip', 'ann'],
  ['br', 'ben'],
  ['gzip', 'ben'],
])('by %s, %s gets what is sent without', async (encoding, user) => {
  const plain = await pullAs(user, 'identity');
  expect(plain.headers.get('Content-Encoding')).toBeNull();
  const compressed = await pullAs(user, encoding);
  expect(compressed.headers.get('Content-Encoding')).toBe(encoding);
  for (const { headers } of [plain, compressed]) {
    expect(headers.get('Vary')).toBe('Accept-Encoding');
    expect(headers.get('Content-Type')).toBe('application/json');
  }
  expect(textOfPatch(compressed)).toBe(textOfPatch(plain));
  expect(compressed.body.patch).toHaveLength(user === 'ann' ? todos + 1 : 21);
});

it('not if it is short', async () => {
  const { headers } = await pullAs('cam', 'br');
  expect([headers.get('Content-Encoding'), headers.get('Vary')]).toEqual([null, null]);
});

it('calls of mutators are not: one may answer with a secret beside what it was sent', async () => {
  const long = 'longer than anything '.repeat(100);
  const answer = await send(server, '/api/mutators/echo', { long }, { headers: { 'Accept-Encoding': 'br' } });
  expect(answer.body).toEqual({ ok: true, result: { long } });
  expect(answer.headers.get('Content-Encoding')).toBeNull();
});

it('not if it is turned off', async () => {
  const off = await startServer({ setup, compression: false });
  const { headers, body } = await pullAs('ann', 'br', off);
  expect([headers.get('Content-Encoding'), headers.get('Vary')]).toEqual([null, null]);
  expect(body.patch).toHaveLength(todos + 1);
  await off.close();
});
