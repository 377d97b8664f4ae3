/** Writes to the example's tables directly, bypassing the server, until it is stopped. */
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';

const userOf = (n: number) => ['ann', 'ben', 'cam'][n % 3];
const some = (table: string, columns: string, count: number) =>
  `select ${columns} from ${table} order by random() limit ${count}`;

const statements: readonly ((n: number) => string)[] = [
  (n) => `insert into list (id, owner_id, name) values ('l${n}', '${userOf(n / statements.length)}', 'List ${n}')`,
  (n) =>
    `insert into todo (id, list_id, title, sort) select 't${n} ' || id, id, 'Todo', ${n} from (${some('list', 'id', 3)}) l`,
  (n) =>
    `insert into share (list_id, user_id) select id, '${userOf(n)}' from (${some('list', 'id', 2)}) l on conflict do nothing`,
  () => `update todo set title = title || '!', done = not done where id in (${some('todo', 'id', 2)})`,
  () => `delete from share where (list_id, user_id) in (${some('share', 'list_id, user_id', 1)})`,
  () => `delete from todo where id in (${some('todo', 'id', 1)})`,
];

export interface Writer {
  /** Resolves with the number of writes. */
  stop(): Promise<number>;
}

export function startWriter(pool: pg.Pool, pauseMs = 5): Writer {
  let isWriting = true;
  const writing = (async () => {
    let n = 0;
    for (; isWriting; n++) {
      await pool.query(statements[n % statements.length]!(n));
      await sleep(pauseMs);
    }
    return n;
  })();
  writing.catch(() => {});
  return {
    stop() {
      isWriting = false;
      return writing;
    },
  };
}
