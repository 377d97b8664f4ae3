/** Views read over REST while more transactions are in progress than any connection pool holds. */
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { startCluster, type TestCluster } from '../../support/cluster.js';
import { applied, EventReader, type Ops, serveViews, type Viewed } from './viewed.js';

let cluster: TestCluster;
let served: Viewed;

beforeAll(async () => {
  cluster = await startCluster({ max_prepared_transactions: '3000' });
  vi.stubEnv('TIDEMARK_TEST_CLUSTER', cluster.url);
  served = await serveViews();
  await served.run(`create table other (id integer); insert into note values (1, 'ann', 'one', null, 1)`);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  const { rows } = await served.database.pool.query<{ gid: string }>('select gid from pg_prepared_xacts');
  for (const { gid } of rows) await served.run(`rollback prepared '${gid}'`);
  await served.close();
  await cluster?.stop();
});

/** Random distances between transaction IDs, up to 100. */
const distanceAt = (i: number) => 1 + (createHash('sha256').update(String(i)).digest().readUInt16BE() % 100);

/** Leaves prepared transactions in progress, which need no connection. Their subtransactions use the IDs in between. */
async function prepare(from: number, to: number): Promise<void> {
  const transactions = Array.from({ length: to - from }, (_, at) => {
    const i = from + at;
    return `begin;
      insert into note values (${1000 + i}, 'ann', 'late', null, 1);
      do $$ begin for i in 1..${distanceAt(i)} loop
        begin insert into other values (i); exception when division_by_zero then null; end;
      end loop; end $$;
      prepare transaction 'open ${i}';`;
  });
  await served.run(transactions.join('\n'));
  // The snapshot in a cookie ends with the newest transaction that has left something.
  await served.run(`update note set body = 'one' where id = 1`);
}

const ops = async (since: string) => (await (await served.get(`/api/views/note?since=${since}`)).json()) as Ops;

it('tokens of up to 3.5 kB are sent, and work as usual', async () => {
  await prepare(0, 1_000);
  const response = await served.get('/api/views/note');
  expect(await response.json()).toHaveLength(1);
  const tag = response.headers.get('ETag')!;
  expect(tag.length).toBeGreaterThan(1_000);
  expect(tag.length).toBeLessThan(3_500);
  expect((await served.get('/api/views/note', { 'If-None-Match': tag })).status).toBe(304);
  const { cookie } = await ops('');
  await served.run(`commit prepared 'open 500'`);
  expect((await ops(cookie)).patch).toMatchObject([{ op: 'put', key: 'note/1500' }]);
  expect((await served.get('/api/views/note', { 'If-None-Match': tag })).status).toBe(200);
});

it('no entity tag and the cookie "none" are sent if a token would be longer, and all rows follow', async () => {
  await prepare(1_000, 2_500);
  const response = await served.get('/api/views/note');
  expect(await response.json()).toHaveLength(2);
  expect(response.headers.has('ETag')).toBe(false);
  const expectAll = (patch: Ops['patch']) => {
    expect(patch[0]).toEqual({ op: 'clear' });
    expect([...applied(new Map(), patch).keys()].sort()).toEqual(['note/1', 'note/1500']);
  };
  for (const since of ['', 'none']) {
    const { cookie, patch } = await ops(since);
    expect(cookie).toBe('none');
    expectAll(patch);
  }
  const stream = new EventReader(await served.get('/api/views/note', { Accept: 'text/event-stream' }));
  const event = await stream.next();
  expect(event?.id).toBe('none');
  expectAll(JSON.parse(event!.data) as Ops['patch']);
  await served.run(`commit prepared 'open 2000'`);
  const change = await stream.next();
  expect([change?.id, JSON.parse(change!.data)]).toMatchObject(['none', [{ op: 'put', key: 'note/3000' }]]);
  await stream.cancel();
});
