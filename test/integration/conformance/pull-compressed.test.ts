/** Pulls are compressed as the client accepts; everything else stays the same. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { defineMutator, defineMutators } from '../../../packages/tidemark/src/registry/mutators.js';
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

/** The response without the cookie, which also depends on transactions of other databases. */
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
])('a pull compressed with %s, for %s, equals the uncompressed pull', async (encoding, user) => {
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

it('a short pull is not compressed', async () => {
  const { headers } = await pullAs('cam', 'br');
  expect([headers.get('Content-Encoding'), headers.get('Vary')]).toEqual([null, null]);
});

it('a call is not compressed, because its result may contain a secret beside its args', async () => {
  const long = 'longer than anything '.repeat(100);
  const answer = await send(server, '/api/mutators/echo', { long }, { headers: { 'Accept-Encoding': 'br' } });
  expect(answer.body).toEqual({ ok: true, result: { long } });
  expect(answer.headers.get('Content-Encoding')).toBeNull();
});

it('a pull is not compressed if compression is turned off', async () => {
  const off = await startServer({ setup, compression: false });
  const { headers, body } = await pullAs('ann', 'br', off);
  expect([headers.get('Content-Encoding'), headers.get('Vary')]).toEqual([null, null]);
  expect(body.patch).toHaveLength(todos + 1);
  await off.close();
});
