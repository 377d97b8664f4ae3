import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { seeded } from '../random.js';
import type { TestClient } from './client.js';
import { useFixture } from './fixture.js';

const fixture = useFixture();
const { client } = fixture;

/** What the server holds for a user, by queries that have nothing to do with the views. */
async function truth(user: string): Promise<Record<string, unknown>> {
  const { rows } = await fixture.server.pool.query(
    `with mine as (select * from list l where owner_id = $1 or exists (select from share where list_id = l.id and user_id = $1))
     select 'list/' || id as key, json_build_object('id', id, 'name', name, 'ownerID', owner_id) as value from mine
     union all
     select 'todo/' || t.id,
       json_build_object('id', t.id, 'listID', list_id, 'title', title, 'done', done, 'sort', sort)
     from todo t join mine on mine.id = list_id
     union all
     select 'share/' || list_id || '/' || user_id, json_build_object('listID', list_id, 'userID', user_id)
     from share join mine on mine.id = list_id`,
    [user],
  );
  return Object.fromEntries(rows.map(({ key, value }) => [key, value]));
}

const steps = 200;

test('random mutations by three clients of two users, and by the database: all converge to the truth', async () => {
  const random = seeded(11);
  const one = <T>(items: readonly T[]) => items[random(items.length)]!;
  const clients = [client('ann'), client('ann'), client('ben')];
  const lists = ['l0', 'l1', 'l2', 'l3'];
  const todos = Array.from({ length: 20 }, (_, i) => `t${i}`);

  const change = async ({ rep: { mutate } }: TestClient) => {
    const [listID, id, n] = [one(lists), one(todos), random(1000)];
    const changes = [
      () => mutate['list.create']({ id: listID, name: `List ${n}` }),
      () => mutate['list.share']({ listID, userID: one(['ann', 'ben']) }),
      () => mutate['list.unshare']({ listID, userID: one(['ann', 'ben']) }),
      () => (random(4) === 0 ? mutate['list.delete']({ id: listID }) : mutate['list.create']({ id: listID, name: '' })),
      () => mutate['todo.create']({ id, listID, title: `Todo ${n}`, sort: n / 8 }),
      () => mutate['todo.create']({ id, listID, title: `Todo ${n}`, sort: n / 8 }),
      () => mutate['todo.update']({ id, done: random(2) === 0, sort: n }),
      () => mutate['todo.update']({ id, title: `Changed ${n}` }),
      () => mutate['todo.delete']({ id }),
    ];
    await one(changes)();
  };
  const changeDirectly = () =>
    fixture.server.pool.query(
      one(['update todo set sort = sort + 1', "update list set name = name || '.'", 'delete from todo where done']),
    );

  for (let step = 0; step < steps; step++) {
    await change(one(clients));
    if (random(3) === 0) void one(clients).rep.pull({ now: true });
    if (random(20) === 0) await changeDirectly();
    if (random(4) === 0) await sleep(random(12));
  }
  for (const { settle } of clients) await settle();
  for (const [i, user] of ['ann', 'ann', 'ben'].entries()) {
    const wanted = await truth(user);
    const { pullUntil, entries } = clients[i]!;
    const seen = fixture.wire.pulls(clients[i]!.rep.clientID).length;
    await pullUntil(async () => fixture.wire.pulls(clients[i]!.rep.clientID).length > seen + 1);
    expect(await entries()).toEqual(wanted);
  }
  const clears = fixture.wire.pulls().filter(({ answer }) => answer.patch[0]?.op === 'clear');
  expect(clears).toEqual([]);
  expect(Object.keys(await truth('ann')).length).toBeGreaterThan(3);
});
