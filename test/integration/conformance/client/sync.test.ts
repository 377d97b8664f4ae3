import { describe, expect, it } from 'vitest';
import { until } from './client.js';
import { useFixture } from './fixture.js';

const fixture = useFixture();
const { client } = fixture;

describe('the first sync', () => {
  it('of an empty view yields no entries', async () => {
    const ann = client('ann');
    await until(() => fixture.wire.pulls().length > 0);
    expect(await ann.entries()).toEqual({});
    expect(fixture.wire.pulls()[0]).toMatchObject({ status: 200, request: { cookie: null }, answer: { patch: [] } });
  });

  it("of a view with data yields only the user's rows", async () => {
    await fixture.server.pool.query(`
      insert into list (id, owner_id, name) values ('a', 'ann', 'Groceries'), ('b', 'ben', 'Garden');
      insert into todo (id, list_id, title, sort) select 'a' || n, 'a', 'Milk', n from generate_series(1, 300) n`);
    const ann = client('ann');
    await until(async () => (await ann.keys()).length === 301);
    const entries = await ann.entries();
    expect(entries['list/a']).toEqual({ id: 'a', name: 'Groceries', ownerID: 'ann' });
    expect(entries['todo/a7']).toEqual({ id: 'a7', listID: 'a', title: 'Milk', done: false, sort: 7 });
    expect(entries).not.toHaveProperty('list/b');
  });
});

describe('a client', () => {
  it('has its optimistic mutation confirmed by the server, and a second client sees it', async () => {
    const [ann, phone] = [client('ann'), client('ann')];
    await ann.rep.mutate['list.create']({ id: 'l', name: 'Groceries' });
    expect((await ann.entries())['list/l']).toMatchObject({ ownerID: 'me' });
    expect(await ann.pending()).toBe(1);
    await ann.settle();
    expect((await ann.entries())['list/l']).toMatchObject({ ownerID: 'ann' });
    const { rows } = await fixture.server.pool.query('select owner_id, name from list');
    expect(rows).toEqual([{ owner_id: 'ann', name: 'Groceries' }]);
    await phone.pullUntil(async () => (await phone.keys()).includes('list/l'));
    expect(await phone.entries()).toEqual(await ann.entries());
  });

  it('creates, changes and deletes rows', async () => {
    const ann = client('ann');
    const { mutate } = ann.rep;
    await mutate['list.create']({ id: 'l', name: 'Groceries' });
    await mutate['todo.create']({ id: 't', listID: 'l', title: 'Milk', sort: 1.5 });
    await mutate['todo.create']({ id: 'u', listID: 'l', title: 'Bread', sort: 2 });
    await mutate['todo.update']({ id: 't', done: true });
    await mutate['todo.delete']({ id: 'u' });
    await ann.settle();
    expect(await ann.entries()).toEqual({
      'list/l': { id: 'l', name: 'Groceries', ownerID: 'ann' },
      'todo/t': { id: 't', listID: 'l', title: 'Milk', done: true, sort: 1.5 },
    });
    await mutate['list.delete']({ id: 'l' });
    await ann.settle();
    expect(await ann.entries()).toEqual({});
    expect((await fixture.server.pool.query('select from todo')).rowCount).toBe(0);
  });

  it('gets the identical cookie from a pull that finds nothing new', async () => {
    const ann = client('ann');
    await ann.rep.mutate['list.create']({ id: 'l', name: 'Groceries' });
    await ann.settle();
    const seen = fixture.wire.pulls().length;
    await ann.pullUntil(async () => fixture.wire.pulls().length > seen + 1);
    const { request, answer } = fixture.wire.pulls().at(-1)!;
    expect(answer).toEqual({ cookie: request.cookie, lastMutationIDChanges: {}, patch: [] });
  });
});

describe('a share', () => {
  it('appears and disappears together with its list and todos', async () => {
    const [ann, ben] = [client('ann'), client('ben')];
    await ann.rep.mutate['list.create']({ id: 'l', name: 'Groceries' });
    await ann.rep.mutate['todo.create']({ id: 't', listID: 'l', title: 'Milk', sort: 1 });
    await ann.rep.mutate['list.create']({ id: 'private', name: 'Diary' });
    await ann.settle();
    await ben.rep.mutate['list.create']({ id: 'own', name: 'Garden' });
    await ben.settle();
    expect(await ben.keys()).toEqual(['list/own']);

    await ann.rep.mutate['list.share']({ listID: 'l', userID: 'ben' });
    await ann.settle();
    await ben.pullUntil(async () => (await ben.keys()).length === 4);
    expect(await ben.keys()).toEqual(['list/l', 'list/own', 'share/l/ben', 'todo/t']);

    await ben.rep.mutate['todo.update']({ id: 't', done: true });
    await ben.settle();
    await ann.pullUntil(async () => JSON.stringify(await ann.entries()).includes('"done":true'));

    await ann.rep.mutate['list.unshare']({ listID: 'l', userID: 'ben' });
    await ann.settle();
    await ben.pullUntil(async () => (await ben.keys()).length === 1);
    expect(await ben.keys()).toEqual(['list/own']);
    const dels = fixture.wire
      .pulls(ben.rep.clientID)
      .flatMap(({ answer }) => answer.patch.filter((op) => op.op === 'del'));
    expect(dels).toHaveLength(3);
    expect(dels).toEqual(
      expect.arrayContaining([
        { op: 'del', key: 'list/l' },
        { op: 'del', key: 'share/l/ben' },
        { op: 'del', key: 'todo/t' },
      ]),
    );
  });

  it('that has been removed has later changes to its todos refused and rolled back', async () => {
    const [ann, ben] = [client('ann'), client('ben')];
    await ann.rep.mutate['list.create']({ id: 'l', name: 'Groceries' });
    await ann.rep.mutate['todo.create']({ id: 't', listID: 'l', title: 'Milk', sort: 1 });
    await ann.rep.mutate['list.share']({ listID: 'l', userID: 'ben' });
    await ann.settle();
    await ben.pullUntil(async () => (await ben.keys()).length === 3);
    await ann.rep.mutate['list.unshare']({ listID: 'l', userID: 'ben' });
    await ann.settle();
    await ben.rep.mutate['todo.update']({ id: 't', title: 'Taken' });
    await ben.settle();
    expect(await ben.entries()).toEqual({});
    expect((await fixture.server.pool.query('select title from todo')).rows).toEqual([{ title: 'Milk' }]);
  });
});
