import { isDeepStrictEqual } from 'node:util';
import { beforeEach, describe, expect, it } from 'vitest';
import { type TestClient, until } from '../conformance/client/client.js';
import { randomChanges } from '../conformance/client/random-changes.js';
import { truth } from '../conformance/client/truth.js';
import { seeded } from '../conformance/random.js';
import { useNodes } from './nodes.js';

const nodes = useNodes();
const { client } = nodes;

/** Longer than any poke takes, and much shorter than the minute after which a client pulls automatically. */
const promptMs = 5_000;

const title = async (reader: TestClient) => (await reader.entries())['todo/t']?.title;

beforeEach(async () => {
  await nodes.pool.query(`
    delete from list;
    insert into list (id, owner_id, name) values ('l', 'ann', 'Groceries'), ('private', 'ann', 'Diary');
    insert into share (list_id, user_id) values ('l', 'ben');
    insert into todo (id, list_id, title, sort) values ('t', 'l', 'Milk', 1), ('secret', 'private', 'Say nothing', 1)`);
});

describe('two nodes on one database', () => {
  it('bring a write on either node, or by SQL, to all clients promptly', async () => {
    const { one, two, pool } = nodes;
    const [annOne, benTwo] = [client('ann', { node: one }), client('ben', { node: two })];
    const readers = [annOne, benTwo, client('ann', { node: two }), client('ben', { node: one })];
    const unpoked = client('ann', { node: one, pokes: 'none' });
    const allRead = (wanted: string) =>
      until(async () => (await Promise.all(readers.map(title))).every((found) => found === wanted), promptMs);
    await allRead('Milk');
    await until(async () => (await title(unpoked)) === 'Milk');

    await annOne.rep.mutate['todo.update']({ id: 't', title: 'Oats' });
    await allRead('Oats');
    await benTwo.rep.mutate['todo.update']({ id: 't', title: 'Rice' });
    await allRead('Rice');
    await pool.query("update todo set title = 'Bread' where id = 't'");
    await allRead('Bread');
    // So pokes caused the pulls, and not the client's own interval.
    expect(await title(unpoked)).toBe('Milk');
  });

  it('let all clients converge after random writes everywhere', async () => {
    const { one, two, pool } = nodes;
    const random = seeded(37);
    const { mutate, write } = randomChanges(random);
    const users = ['ann', 'ann', 'ben', 'ben'];
    const clients = users.map((user, i) => client(user, { node: i % 2 === 0 ? one : two }));
    for (let step = 0; step < 150; step++) {
      await mutate(clients[random(clients.length)]!);
      if (random(10) === 0) await write(pool);
    }
    for (const { pending } of clients) await until(async () => (await pending()) === 0);
    for (const [i, user] of users.entries()) {
      const wanted = await truth(pool, user);
      await until(async () => isDeepStrictEqual(await clients[i]!.entries(), wanted), promptMs);
    }
  });

  it('add and remove a list on one node when it is shared and unshared on the other', async () => {
    const { one, two } = nodes;
    const [ann, ben] = [client('ann', { node: one }), client('ben', { node: two })];
    const sees = (key: string, wanted: boolean) =>
      until(async () => (await ben.keys()).includes(key) === wanted, promptMs);
    await sees('todo/t', true);
    await ann.rep.mutate['list.share']({ listID: 'private', userID: 'ben' });
    await sees('todo/secret', true);
    await ann.rep.mutate['list.unshare']({ listID: 'private', userID: 'ben' });
    await sees('todo/secret', false);
  });
});

describe('a client that pushes to one node and is poked by the other', () => {
  it('receives the confirmation of its mutations', async () => {
    const ann = client('ann', { node: nodes.one, pokes: nodes.two });
    await until(async () => (await title(ann)) === 'Milk');
    await ann.rep.mutate['todo.update']({ id: 't', title: 'Oats' });
    await until(async () => (await ann.pending()) === 0, promptMs);
    expect(await title(ann)).toBe('Oats');
  });

  it('receives the confirmation of a mutation that the server refuses', async () => {
    const ben = client('ben', { node: nodes.one, pokes: nodes.two });
    await until(async () => (await title(ben)) === 'Milk');
    await ben.rep.mutate['todo.create']({ id: 'x', listID: 'private', title: 'Mine now', sort: 2 });
    expect(await ben.keys()).toContain('todo/x');
    await until(async () => (await ben.pending()) === 0, promptMs);
    expect(await ben.keys()).not.toContain('todo/x');
  });
});
