/** Anonymous users, one for each browser, as docs/authentication.md describes them. */
import { createHash, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { jwtAuth } from '../../../packages/tidemark/src/auth/jwt.js';
import { sessionAuth } from '../../../packages/tidemark/src/auth/session.js';
import type { UserContext } from '../../../packages/tidemark/src/context.js';
import { defineMutator, defineMutators } from '../../../packages/tidemark/src/registry/mutators.js';
import { createSync, type Sync } from '../../../packages/tidemark/src/server.js';
import { sql } from '../../../packages/tidemark/src/sql.js';
import { defineView } from '../../../packages/tidemark/src/view/define.js';
import type { TestDatabase } from '../../support/database.js';
import { silent } from '../../support/log.js';
import { createSynced } from '../../support/synced.js';
import { createSigner, pemOf, sign } from './tokens.js';

const signer = createSigner('RS256');
const token = jwtAuth({ key: { publicKey: pemOf(signer) }, algorithms: ['RS256'] });

function anonymousID(secret: string): string {
  return `anonymous:${createHash('sha256').update(secret).digest('base64url')}`;
}

function authenticate(request: Request): UserContext | null | Promise<UserContext | null> {
  const secret = /^Anonymous ([\w-]{36})$/.exec(request.headers.get('Authorization') ?? '')?.[1];
  return secret ? { userID: anonymousID(secret) } : token(request);
}

const note = defineView({
  query: ({ ctx }) => sql<{ id: string }>`select id from note where owner_id = ${ctx.userID}`,
  key: 'id',
});
const create = defineMutator(z.string(), ({ tx, args, ctx }) =>
  tx.query('insert into note (id, owner_id) values ($1, $2)', [args, ctx.userID]),
);
const adopt = defineMutator(z.object({ secret: z.uuid() }), async ({ tx, args, ctx }) => {
  await tx.query('update note set owner_id = $2 where owner_id = $1', [anonymousID(args.secret), ctx.userID]);
});

let database: TestDatabase;
let sync: Sync;

beforeAll(async () => {
  database = await createSynced('create table note (id text primary key, owner_id text not null)', { note });
  const mutators = defineMutators({ create, adopt });
  sync = await createSync({ database: database.url, views: { note }, mutators, authenticate, log: silent });
});
afterAll(async () => {
  await sync.close();
  await database.drop();
});

const send = (path: string, authorization: string, body: object) =>
  sync.fetch(
    new Request(`http://localhost${path}`, {
      method: 'POST',
      headers: { Authorization: authorization, 'Content-Type': 'application/json' },
      body: JSON.stringify({ clientGroupID: 'g', profileID: 'p', schemaVersion: '', ...body }),
    }),
  );

async function push(authorization: string, clientGroupID: string, name: string, args: unknown): Promise<number> {
  const mutations = [{ id: 1, clientID: randomUUID(), name, args, timestamp: 0 }];
  return (await send('/sync/push', authorization, { clientGroupID, pushVersion: 1, mutations })).status;
}

async function notes(authorization: string, clientGroupID: string): Promise<string[]> {
  const response = await send('/sync/pull', authorization, { clientGroupID, pullVersion: 1, cookie: null });
  const { patch } = (await response.json()) as { patch: { value?: { id: string } }[] };
  return patch.flatMap(({ value }) => value?.id ?? []);
}

it('keeps the data of anonymous users apart, and hands it over when one of them signs in', async () => {
  const [one, other] = [randomUUID(), randomUUID()];
  expect(await push(`Anonymous ${one}`, 'one', 'create', 'a')).toBe(200);
  expect(await push(`Anonymous ${other}`, 'other', 'create', 'b')).toBe(200);
  expect(await notes(`Anonymous ${one}`, 'one')).toEqual(['a']);
  expect(await notes(`Anonymous ${other}`, 'other')).toEqual(['b']);
  expect(await push(`Anonymous ${other}`, 'one', 'create', 'c')).toBe(403);

  const ann = `Bearer ${await sign(signer)}`;
  expect(await push(ann, 'one', 'create', 'd')).toBe(403);
  expect(await push(ann, 'of ann', 'adopt', { secret: one })).toBe(200);
  expect(await notes(ann, 'of ann')).toEqual(['a']);
  expect(await notes(`Anonymous ${one}`, 'one')).toEqual([]);
  expect(await notes(`Anonymous ${other}`, 'other')).toEqual(['b']);
});

it('rejects a request without a complete secret', async () => {
  for (const authorization of ['', 'Anonymous', 'Anonymous x', `Anonymous ${randomUUID()}${randomUUID()}`]) {
    expect(await push(authorization, 'none', 'create', 'x')).toBe(401);
  }
});

it.each([
  ['jwtAuth', jwtAuth({ key: { publicKey: pemOf(signer) }, algorithms: ['RS256'], anonymous: lookUp })],
  ['sessionAuth', sessionAuth({ cookie: 'sid', session: () => null, anonymous: lookUp })],
])('%s awaits the function that identifies an anonymous caller', async (_, authenticateCaller) => {
  const requestFrom = (address: string) => new Request('http://localhost', { headers: { 'X-Forwarded-For': address } });
  expect(await authenticateCaller(requestFrom('192.0.2.7'))).toEqual({ userID: 'stranger of 192.0.2.7' });
  expect(await authenticateCaller(requestFrom('192.0.2.8'))).toBeNull();
});

async function lookUp({ headers }: Request): Promise<UserContext | null> {
  const { rows } = await database.pool.query<UserContext>(
    `select 'stranger of ' || $1 as "userID" where $1 <> '192.0.2.8'`,
    [headers.get('X-Forwarded-For')],
  );
  return rows[0] ?? null;
}
