import type { Pool } from 'pg';
import type { TestClient } from './client.js';

export interface RandomChanges {
  /** One mutation by a client, often of something that does not exist or does not belong to the client. */
  mutate(client: TestClient): Promise<void>;
  /** One write through SQL. */
  write(pool: Pool): Promise<void>;
}

/** Changes to a few lists and todos of Ann and Ben, who therefore often change the same ones. */
export function randomChanges(random: (below: number) => number): RandomChanges {
  const one = <T>(items: readonly T[]) => items[random(items.length)]!;
  const users = ['ann', 'ben'];
  const lists = ['l0', 'l1', 'l2', 'l3'];
  const todos = Array.from({ length: 20 }, (_, i) => `t${i}`);
  return {
    async mutate({ rep: { mutate } }) {
      const [listID, id, n] = [one(lists), one(todos), random(1000)];
      const changes = [
        () => mutate['list.create']({ id: listID, name: `List ${n}` }),
        () => mutate['list.share']({ listID, userID: one(users) }),
        () => mutate['list.unshare']({ listID, userID: one(users) }),
        () =>
          random(4) === 0 ? mutate['list.delete']({ id: listID }) : mutate['list.create']({ id: listID, name: '' }),
        () => mutate['todo.create']({ id, listID, title: `Todo ${n}`, sort: n / 8 }),
        () => mutate['todo.create']({ id, listID, title: `Todo ${n}`, sort: n / 8 }),
        () => mutate['todo.update']({ id, done: random(2) === 0, sort: n }),
        () => mutate['todo.update']({ id, title: `Changed ${n}` }),
        () => mutate['todo.delete']({ id }),
      ];
      await one(changes)();
    },
    async write(pool) {
      await pool.query(
        one(['update todo set sort = sort + 1', "update list set name = name || '.'", 'delete from todo where done']),
      );
    },
  };
}
