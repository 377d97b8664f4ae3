import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { mutators } from '../../../../examples/tasks/src/mutators.js';
import { defineMutator } from '../../../../packages/tidemark/src/registry/mutators.js';
import { until } from './client.js';
import { useFixture } from './fixture.js';

/** Unlike the example's mutators, it shows if it is applied twice. */
const append = defineMutator(async ({ tx, args }) => {
  await tx.query('update todo set title = title || $1', [args]);
});

const fixture = useFixture({ mutators: new Map([...mutators, ['append', append]]) });
const { client } = fixture;
const moreMutators = { append: async () => {} };

describe('two tabs of one client group', () => {
  it('push the same mutations at the same time, and each is applied exactly once, in order', async () => {
    const name = randomUUID();
    const options = { name, moreMutators, pushDelay: 60_000 };
    const one = client('ann', options);
    await one.rep.mutate['list.create']({ id: 'l', name: 'Groceries' });
    await one.rep.mutate['todo.create']({ id: 't', listID: 'l', title: '', sort: 1 });
    for (const letter of 'abcdefgh') await one.rep.mutate.append!(letter);
    await one.persisted();
    const two = client('ann', options);
    expect(await two.rep.clientGroupID).toBe(await one.rep.clientGroupID);
    await two.rep.mutate.append!('-');
    await until(async () => (await two.keys()).includes('todo/t'));
    await Promise.all([one.rep.push({ now: true }), two.rep.push({ now: true })]);
    await until(() => fixture.wire.pushes().length >= 2);
    await Promise.all([one.settle(), two.settle()]);

    const [fromOne, fromTwo] = [one, two].map(({ rep }) => fixture.wire.pushes(rep.clientID)[0]!.request.mutations);
    expect(fromOne!.length).toBeGreaterThanOrEqual(10);
    expect(fromTwo!.filter(({ clientID }) => clientID === one.rep.clientID)).toHaveLength(10);
    const { rows } = await fixture.server.pool.query('select title from todo');
    expect(rows[0].title.replace('-', '')).toBe('abcdefgh');
    expect(rows[0].title).toHaveLength(9);
    expect(fixture.server.lines.filter(({ level }) => level === 'error')).toEqual([]);
    await Promise.all([one, two].map((tab) => tab.pullUntil(async () => (await tab.keys()).length === 2)));
    expect(await one.entries()).toEqual(await two.entries());
  });

  it('share their data: the second one continues from that of the first', async () => {
    await fixture.server.pool.query("insert into list (id, owner_id, name) values ('a', 'ann', 'Groceries')");
    const one = client('ann');
    await until(async () => (await one.keys()).length === 1);
    await one.persisted();
    const two = client('ann', { name: one.rep.name });
    await until(() => fixture.wire.pulls(two.rep.clientID).length > 0);
    const [first] = fixture.wire.pulls(two.rep.clientID);
    expect(first!.request.cookie).not.toBeNull();
    expect(first!.answer).toEqual({ cookie: first!.request.cookie, lastMutationIDChanges: {}, patch: [] });
    expect(await two.keys()).toEqual(['list/a']);
  });
});

describe('a client with other mutators', () => {
  it("starts a group of its own from the old group's cookie, and gets a delta", async () => {
    await fixture.server.pool.query(`
      insert into list (id, owner_id, name) values ('a', 'ann', 'Groceries'), ('b', 'ann', 'Garden');
      insert into todo (id, list_id, title, sort) select 'a' || n, 'a', 'Milk', n from generate_series(1, 50) n`);
    const old = client('ann');
    await until(async () => (await old.keys()).length === 52);
    await old.rep.mutate['todo.update']({ id: 'a1', title: 'Oats' });
    await old.settle();
    await old.persisted();
    await fixture.server.pool.query("update list set name = 'Orchard' where id = 'b'");

    const renewed = client('ann', { name: old.rep.name, moreMutators });
    await until(() => fixture.wire.pulls(renewed.rep.clientID).length > 0);
    expect(await renewed.rep.clientGroupID).not.toBe(await old.rep.clientGroupID);
    const [first] = fixture.wire.pulls(renewed.rep.clientID);
    expect(first!.request.clientGroupID).toBe(await renewed.rep.clientGroupID);
    expect(first!.answer.patch).toEqual([
      { op: 'put', key: 'list/b', value: { id: 'b', name: 'Orchard', ownerID: 'ann' } },
    ]);
    expect(first!.answer.lastMutationIDChanges).toEqual({});
    await until(async () => (await renewed.entries())['list/b']!.name === 'Orchard');
    expect(await renewed.keys()).toHaveLength(52);

    await renewed.rep.mutate.append!('!');
    await renewed.settle();
    expect((await renewed.entries())['todo/a1']).toMatchObject({ title: 'Oats!' });
  });

  it('pushes what the old group had not pushed yet', async () => {
    const old = client('ann', { pushURL: '' });
    await old.rep.mutate['list.create']({ id: 'late', name: 'Groceries' });
    await old.persisted();
    await old.rep.close();
    const renewed = client('ann', { name: old.rep.name, moreMutators });
    await renewed.pullUntil(async () => (await renewed.keys()).includes('list/late'));
    expect((await fixture.server.pool.query('select id from list')).rows).toEqual([{ id: 'late' }]);
  });
});
