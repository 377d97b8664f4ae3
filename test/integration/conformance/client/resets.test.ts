import { describe, expect, it } from 'vitest';
import { openPool } from '../../../../packages/tidemark/src/db/pg.js';
import { listen } from '../../../../packages/tidemark/src/node.js';
import { prune } from '../../../../packages/tidemark/src/store/retention.js';
import { memoryLog } from '../../../support/log.js';
import { compareCookies } from '../wire.js';
import { openClient, type TestClient, until } from './client.js';
import { useFixture } from './fixture.js';

const fixture = useFixture();
const { client } = fixture;
const query = (text: string) => fixture.server.pool.query(text);

/** Checks the pull that reset the client: it, and a new tab before and after its first pull, have the server's data. */
async function expectReset(ann: TestClient, keys: string[]): Promise<void> {
  await ann.pullUntil(async () => JSON.stringify(await ann.keys()) === JSON.stringify(keys));
  const reset = fixture.wire.pulls(ann.rep.clientID).find(({ answer }) => answer.patch[0]?.op === 'clear')!;
  expect(reset.answer.patch.slice(1).map((op) => op.op)).toEqual(keys.map(() => 'put'));
  expect(compareCookies(reset.answer.cookie, reset.request.cookie as null)).toBeGreaterThan(0);
  await ann.persisted();
  const tab = client('ann', { name: ann.rep.name });
  await until(() => fixture.wire.pulls(tab.rep.clientID).length > 0);
  const [first] = fixture.wire.pulls(tab.rep.clientID);
  expect(first!.answer).toEqual({ cookie: first!.request.cookie, lastMutationIDChanges: {}, patch: [] });
  expect(await tab.keys()).toEqual(keys);
  await tab.rep.mutate['list.create']({ id: 'z', name: 'After the reset' });
  await tab.settle();
  await ann.pullUntil(async () => (await ann.keys()).length === keys.length + 1);
  expect(await ann.keys()).toEqual([...keys, 'list/z']);
}

/** Waits until the change log no longer reaches back to the snapshot. Other tests' transactions can delay that. */
async function pruneBeyond(snapshot: string): Promise<void> {
  await until(async () => {
    await prune(openPool(fixture.server.pool), 0);
    const { rows } = await query('select horizon::text from tidemark.meta');
    const remaining = (await query('select from tidemark.change')).rowCount;
    return remaining === 0 && BigInt(rows[0].horizon) > BigInt(snapshot.split(':')[0]!);
  });
}

describe('a client is reset, converges, and a new tab starts from the new data', () => {
  it('after the database ID changes', async () => {
    await query("insert into list (id, owner_id, name) values ('a', 'ann', 'Groceries'), ('b', 'ann', 'Garden')");
    const ann = client('ann');
    await ann.rep.mutate['list.create']({ id: 'c', name: 'Kept' });
    await ann.settle();
    await ann.persisted();
    await query("update tidemark.meta set install_id = gen_random_uuid(); delete from list where id = 'b'");
    await expectReset(ann, ['list/a', 'list/c']);
  });

  it('when it returns with a cookie older than the change log', async () => {
    await query("insert into list (id, owner_id, name) values ('a', 'ann', 'Groceries'), ('b', 'ann', 'Garden')");
    const ann = client('ann');
    await until(async () => (await ann.keys()).length === 2);
    await query("delete from list where id = 'b'");
    await query("update list set name = 'Shopping' where id = 'a'");
    await pruneBeyond(fixture.wire.pulls().at(-1)!.answer.cookie.snapshot as string);
    await expectReset(ann, ['list/a']);
    expect(await ann.entries()).toMatchObject({ 'list/a': { name: 'Shopping' } });
  });

  it('with pending mutations, none of which is lost', async () => {
    const ann = client('ann');
    // `fetch` refuses to connect to this port.
    ann.rep.pushURL = 'http://127.0.0.1:9/sync/push';
    await ann.rep.mutate['list.create']({ id: 'a', name: 'Groceries' });
    await ann.pullUntil(async () => fixture.wire.pulls().length > 0);
    await query('update tidemark.meta set install_id = gen_random_uuid()');
    await ann.pullUntil(async () => fixture.wire.pulls().some(({ answer }) => answer.patch[0]?.op === 'clear'));
    expect(await ann.pending()).toBe(1);
    ann.rep.pushURL = `${fixture.server.url}/sync/push`;
    await ann.rep.push({ now: true });
    await ann.settle();
    expect(await ann.entries()).toMatchObject({ 'list/a': { ownerID: 'ann' } });
  });

  it.each(['2026-11-20T10:00:00Z', 2 ** 53, '', { order: 'zzz', more: [1] }])(
    'when it comes from another server, with the cookie %j',
    async (cookie) => {
      await query("insert into list (id, owner_id, name) values ('a', 'ann', 'Groceries')");
      const patch = [{ op: 'put', key: 'list/old', value: { id: 'old', name: 'Of the other server', ownerID: 'ann' } }];
      const { log } = memoryLog();
      const other = await listen(
        { fetch: () => Response.json({ cookie, lastMutationIDChanges: {}, patch }), close: async () => {} },
        { log, port: 0, hostname: '127.0.0.1', signals: false },
      );
      const ann = client('ann', { pullURL: `${other.url}/sync/pull` });
      await until(async () => (await ann.keys()).length === 1);
      expect(await ann.keys()).toEqual(['list/old']);
      await other.close();
      ann.rep.pullURL = `${fixture.server.url}/sync/pull`;
      await expectReset(ann, ['list/a']);
    },
  );
});

it('a client whose mutations the database has lost, as after a restore, starts over and continues', async () => {
  fixture.expectErrors(/Client state not found/);
  const ann = client('ann');
  let notFound = 0;
  ann.rep.onClientStateNotFound = () => notFound++;
  await ann.rep.mutate['list.create']({ id: 'a', name: 'Kept' });
  await ann.rep.mutate['list.create']({ id: 'b', name: 'Lost' });
  await ann.settle();
  await ann.persisted();
  await query(`delete from list where id = 'b'; update tidemark.client set last_mutation_id = 1;
    update tidemark.meta set install_id = gen_random_uuid()`);
  await ann.pullUntil(async () => notFound > 0);

  const next = client('ann', { name: ann.rep.name });
  await next.pullUntil(async () => JSON.stringify(await next.keys()) === '["list/a"]');
  await next.rep.mutate['list.create']({ id: 'c', name: 'New' });
  await next.settle();
  expect(await next.keys()).toEqual(['list/a', 'list/c']);
});

it('a client on another device starts without data', async () => {
  const elsewhere = openClient(fixture.server, 'cam');
  await until(() => fixture.wire.pulls(elsewhere.rep.clientID).length > 0);
  expect(fixture.wire.pulls(elsewhere.rep.clientID)[0]!.answer.patch).toEqual([]);
  await elsewhere.rep.close();
});
