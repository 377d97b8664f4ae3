/** Invalid cookies, and the order of the cookies that the server issues. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Cookie, type Secrets, sealCookie } from '../../../packages/tidemark/src/protocol/cookie.js';
import { sql } from '../../../packages/tidemark/src/sql.js';
import { defineView } from '../../../packages/tidemark/src/view/define.js';
import { seeded } from './random.js';
import { startServer, type TestServer } from './server.js';
import { applied, compareCookies, type PullAnswer, pull, send } from './wire.js';

let server: TestServer;

beforeAll(async () => {
  server = await startServer();
  await server.pool.query(`
    insert into list (id, owner_id, name) values ('a', 'ann', 'Groceries'), ('b', 'ben', 'Garden');
    insert into todo (id, list_id, title, sort) select 'a' || n, 'a', 'Milk', n from generate_series(1, 20) n`);
});

afterAll(() => server.close());

async function secretOf({ pool }: TestServer): Promise<string> {
  return (await pool.query('select secret from tidemark.meta')).rows[0].secret;
}

const isOrdered = (cookie: unknown): cookie is Parameters<typeof compareCookies>[0] =>
  cookie === null ||
  ['string', 'number'].includes(typeof cookie) ||
  (typeof cookie === 'object' && 'order' in cookie && ['string', 'number'].includes(typeof cookie.order));

/** Checks everything that must hold for a reset. `cookieText` is JSON, for what `JSON.stringify` cannot write. */
async function expectReset(cookieText: string): Promise<PullAnswer> {
  const text = `{"pullVersion":1,"clientGroupID":"g","profileID":"p","schemaVersion":"","cookie":${cookieText}}`;
  const { status, body } = await send(server, '/sync/pull', text);
  expect(status).toBe(200);
  const answer = body as unknown as PullAnswer;
  const [clear, ...puts] = answer.patch;
  expect(clear).toEqual({ op: 'clear' });
  expect(puts).toHaveLength(21);
  expect(puts.every((op) => op.op === 'put')).toBe(true);
  const sent = JSON.parse(cookieText) as unknown;
  expect(compareCookies(answer.cookie, isOrdered(sent) ? sent : null)).toBeGreaterThan(0);
  const { cookie } = answer;
  expect(await pull(server, 'ann', { cookie })).toEqual({ cookie, lastMutationIDChanges: {}, patch: [] });
  return answer;
}

const json = JSON.stringify;

describe('a reset with a higher order is the answer to', () => {
  const values: unknown[] = [
    true,
    false,
    0,
    1.5,
    -3,
    1e308,
    2 ** 53,
    'x',
    '',
    '2026-11-20T10:00:00Z',
    '\uffff',
    '\u0000',
  ];
  const objects = [[], {}, { order: null }, { order: 'zzz' }, { order: -1 }, { order: 1e300 }, { order: {} }, [[1]]];
  it.each([...values, ...objects].map((value) => json(value)))('the cookie %s', async (text) => {
    await expectReset(text);
  });

  it.each([
    ['a number beyond the doubles', '1e400'],
    ['arrays nested 100,000 deep', '['.repeat(100_000) + ']'.repeat(100_000)],
    ['an object with an order nested 100,000 deep', `{"order":${'['.repeat(100_000)}${']'.repeat(100_000)}}`],
    ['a string of 500 KB', json('x'.repeat(500_000))],
    ['a lone surrogate', '"\\ud800"'],
    ['an object with __proto__', '{"__proto__":{"order":5}}'],
  ])('a cookie that is %s', async (_, text) => {
    await expectReset(text);
  });

  it('a cookie of the server with a field cut short, changed or missing', async () => {
    await server.pool.query(
      'insert into tidemark.heartbeat (oldest_xid) values (pg_snapshot_xmin(pg_current_snapshot()))',
    );
    const { cookie } = await pull(server, 'ann');
    const names = [
      'snapshot',
      'next',
      'databaseID',
      'views',
      'clientGroupID',
      'heartbeat',
      'walPosition',
      'signature',
    ] as const;
    for (const field of names) {
      const value = cookie[field] as string;
      await expectReset(json({ ...cookie, [field]: value.slice(0, -1) }));
      const flipped = String.fromCharCode(value.charCodeAt(0) ^ 1) + value.slice(1);
      await expectReset(json({ ...cookie, [field]: flipped }));
      await expectReset(json({ ...cookie, [field]: undefined }));
      await expectReset(json({ ...cookie, [field]: 7 }));
    }
    await expectReset(json({ ...cookie, order: (cookie.order as number) + 1 }));
    await expectReset(json({ ...cookie, order: String(cookie.order) }));
    await expectReset(json(json(cookie).slice(0, -1)));
  });

  it('a cookie of the server with an added field that is nested too deeply', async () => {
    const { cookie } = await pull(server, 'ann');
    const deep = '['.repeat(100_000) + ']'.repeat(100_000);
    await expectReset(`${json(cookie).slice(0, -1)},"more":${deep}}`);
  });

  it("another user's cookie", async () => {
    const { cookie } = await pull(server, 'ben', { clientGroupID: 'of ben' });
    await expectReset(json(cookie));
  });

  it("another user's cookie, even if all users see the same rows", async () => {
    const lists = defineView({ key: 'id', query: () => sql<{ id: string }>`select id, name from list` });
    const other = await startServer({ views: { lists } });
    try {
      await other.pool.query("insert into list (id, owner_id, name) values ('a', 'ann', 'Groceries')");
      const { cookie, patch } = await pull(other, 'ben', { clientGroupID: 'of ben' });
      expect(await pull(other, 'ann', { clientGroupID: 'of ann', cookie })).toMatchObject({
        patch: [{ op: 'clear' }, ...patch],
      });
    } finally {
      await other.close();
    }
  });

  it("another database's cookie, even with the same secret", async () => {
    const other = await startServer();
    try {
      const { cookie } = await pull(other, 'ann');
      await expectReset(json(cookie));
      await other.pool.query('update tidemark.meta set secret = $1', [await secretOf(server)]);
      const { signature: _, ...fields } = cookie as unknown as Cookie;
      await expectReset(json(sealCookie(fields, [await secretOf(server)])));
    } finally {
      await other.close();
    }
  });

  it('a cookie with a future or malformed snapshot, signed with the secret of the server', async () => {
    const { cookie } = await pull(server, 'ann');
    const { signature: _, ...fields } = cookie as unknown as Cookie;
    const secrets: Secrets = [await secretOf(server)];
    for (const snapshot of [
      '9000000000:9000000000:',
      '9000000000:9000000002:9000000001',
      'none',
      '1:2:3:4',
      '1:2:~',
      '',
    ]) {
      await expectReset(json(sealCookie({ ...fields, snapshot }, secrets)));
      await expectReset(json(sealCookie({ ...fields, snapshot, next: '9000000002' }, secrets)));
    }
  });
});

describe('the order', () => {
  it('increases whenever the cookie differs, across random changes, forks and resets', async () => {
    const random = seeded(20261120);
    const group = () => `group ${random(3)}`;
    let last = await pull(server, 'ann');
    let map = applied(new Map(), last.patch);
    for (let step = 0; step < 200; step++) {
      await randomChange(random);
      const spoiled = random(10) === 0;
      const cookie = spoiled ? { ...last.cookie, signature: 'spoiled' } : last.cookie;
      const next = await pull(server, 'ann', { clientGroupID: group(), cookie });
      if (spoiled) expect(next.patch[0]).toEqual({ op: 'clear' });
      if (json(next.cookie) === json(cookie)) expect(next.patch).toEqual([]);
      else expect(compareCookies(next.cookie, last.cookie)).toBeGreaterThan(0);
      map = applied(map, next.patch);
      last = next;
    }
    const full = await pull(server, 'ann');
    expect(map).toEqual(applied(new Map(), full.patch));
    await server.pool.query('delete from share');
  });

  it('increases with each reset, without any transaction between them', async () => {
    let order = -1;
    for (let i = 0; i < 20; i++) {
      const answer = await expectReset(json({ order }));
      expect(answer.cookie.order).toBeGreaterThan(order);
      order = answer.cookie.order as number;
    }
  });

  async function randomChange(random: (below: number) => number): Promise<void> {
    const changes = [
      "update todo set sort = sort + 1 where id = 'a1'",
      "update todo set done = not done where list_id = 'a'",
      "update list set name = name || '.' where id = 'b'",
      "insert into share values ('b', 'ann') on conflict do nothing",
      "delete from share where list_id = 'b'",
      'select 1',
      'update tidemark.meta set install_id = gen_random_uuid()',
    ];
    await server.pool.query(changes[random(changes.length)]!);
  }
});
