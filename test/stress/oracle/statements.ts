/** Random single statements, for every way in which rows change. */
import type { Random } from './random.js';
import { users } from './schema.js';

export interface RandomStatement {
  readonly text: string;
  readonly values?: readonly unknown[];
}

type Choose = (random: Random) => RandomStatement;

const lists = 24;
const todos = 90;
const nodes = 16;
const tasks = 20;
const notes = 24;

const texts = [
  '',
  ' ',
  'plain',
  `it's "quoted"`,
  'a,b(c)\\d',
  'line\nbreak\r\n\ttab',
  'ünï → 💧',
  '{x}',
  'null',
  'a/b%2F',
  '\u2028',
];
const sizes = ['0', '-1', '9007199254740991', '9007199254740993', '-9223372036854775808', '9223372036854775807'];
const decimals = ['0', '1.50', '-0.001', '12345678901234567890.123456789', '9007199254740993', '1e20', '0.1000', 'NaN'];
const documents = [
  'null',
  '{}',
  '[]',
  '"text"',
  '{"a": [1, null, {"b": "\\"\\\\ ü"}]}',
  '12345678901234567890',
  'false',
];
const tags = ['red', '', 'a/b', '10%', `"q"`, 'null', 'blå'];
const roles = ['read', 'write'];

const orNull = (random: Random, value: unknown) => (random.chance(0.15) ? null : value);
const text = (random: Random) => orNull(random, random.pick(texts));
const list = (random: Random) => random.between(1, lists);
const todoID = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;
const todo = (random: Random) => todoID(random.between(1, todos));
const sort = (random: Random) => orNull(random, random.between(0, 5));
const rank = (random: Random) => orNull(random, random.pick(decimals));
const at = (random: Random) => orNull(random, new Date(random.between(0, 2 ** 31) * 1000 + 123).toISOString());
const tagList = (random: Random) =>
  orNull(
    random,
    Array.from({ length: random.between(0, 3) }, () => random.pick(tags)),
  );

const listRow = (random: Random) => [
  list(random), random.pick(users), text(random), orNull(random, random.pick(sizes)), rank(random),
  orNull(random, random.pick(documents)), at(random), tagList(random),
]; // biome-ignore format: one row
const todoRow = (random: Random) => [
  todo(random), orNull(random, list(random)), text(random), random.chance(0.4), sort(random), rank(random),
]; // biome-ignore format: one row

function insert(table: string, rows: readonly (readonly unknown[])[], conflict: string): RandomStatement {
  const values: unknown[] = [];
  const tuples = rows.map((row) => `(${row.map((value) => `$${values.push(value)}`).join(', ')})`);
  return { text: `insert into ${table} values ${tuples.join(', ')} ${conflict}`, values };
}

const many = <T>(random: Random, limit: number, make: () => T): T[] =>
  Array.from({ length: random.chance(0.7) ? 1 : random.between(2, limit) }, make);

const onLists: readonly (readonly [number, Choose])[] = [
  [6, (r) => insert('list', many(r, 5, () => listRow(r)), 'on conflict do nothing')],
  [5, (r) => insert('list', [listRow(r)], 'on conflict (id) do update set owner_id = excluded.owner_id, data = excluded.data')],
  [4, (r) => ({ text: 'update list set name = $2, size = $3 where id = $1', values: [list(r), text(r), r.pick(sizes)] })],
  [3, (r) => ({ text: 'update list set owner_id = $2 where id = $1', values: [list(r), r.pick(users)] })],
  [1, (r) => ({ text: 'update list set data = $2, tags = $3, at = $4 where id % 4 = $1', values: [r.between(0, 3), r.pick(documents), tagList(r), at(r)] })],
  [2, (r) => ({ text: 'update list set name = name where id < $1', values: [list(r)] })],
  [2, (r) => ({ text: 'delete from list where id = $1', values: [list(r)] })],
  [1, (r) => ({ text: 'update list set id = $2 where id = $1', values: [list(r), list(r)] })],
]; // biome-ignore format: one choice a line

const onShares: readonly (readonly [number, Choose])[] = [
  [6, (r) => insert('share', [[list(r), r.pick(users), r.pick(roles)]], 'on conflict (list_id, user_id) do update set role = excluded.role')],
  [2, (r) => ({ text: 'insert into share select id, $1, $2 from list where id % 5 = $3 on conflict do nothing', values: [r.pick(users), r.pick(roles), r.between(0, 4)] })],
  [4, (r) => ({ text: 'delete from share where list_id = $1 and user_id = $2', values: [list(r), r.pick(users)] })],
  [2, (r) => ({ text: 'update share set list_id = $2 where list_id = $1 and user_id = $3', values: [list(r), list(r), r.pick(users)] })],
  [1, (r) => ({ text: 'update share set user_id = $3 where list_id = $1 and user_id = $2', values: [list(r), r.pick(users), r.pick(users)] })],
]; // biome-ignore format: one choice a line

const onTodos: readonly (readonly [number, Choose])[] = [
  [8, (r) => insert('todo', many(r, 8, () => todoRow(r)), 'on conflict do nothing')],
  [4, (r) => insert('todo', [todoRow(r)], 'on conflict (id) do update set title = excluded.title, rank = excluded.rank, list_id = excluded.list_id')],
  [6, (r) => ({ text: 'update todo set title = $2, done = not done where id = $1', values: [todo(r), text(r)] })],
  [3, (r) => ({ text: 'update todo set sort = sort + 1 where list_id = $1', values: [list(r)] })],
  [3, (r) => ({ text: 'update todo set list_id = $2, rank = $3 where id = $1', values: [todo(r), list(r), rank(r)] })],
  [5, (r) => ({ text: 'delete from todo where id = $1', values: [todo(r)] })],
  [1, (r) => ({ text: 'delete from todo where list_id = $1', values: [list(r)] })],
  [2, (r) => ({ text: 'with gone as (delete from todo where id = $1 returning *) insert into todo select $2::uuid, list_id, title, done, sort, rank from gone', values: [todo(r), todo(r)] })],
  [1, (r) => ({ text: 'update todo set title = title, done = done where sort = $1', values: [r.between(0, 5)] })],
  [1, (r) => ({ text: 'merge into todo t using (select $1::uuid as id, $2::text as title) s on t.id = s.id when matched and t.done then delete when matched then update set title = s.title when not matched then insert (id, title) values (s.id, s.title)', values: [todo(r), text(r)] })],
]; // biome-ignore format: one choice a line

const onNodes: readonly (readonly [number, Choose])[] = [
  [5, (r) => ({ text: 'insert into node select $1, (select id from node order by md5(id::text || $2) limit 1), $3 on conflict do nothing', values: [r.between(1, nodes), String(r.between(0, 99)), text(r)] })],
  [3, (r) => ({ text: 'update node set parent_id = $2, label = $3 where id = $1', values: [r.between(1, nodes), r.between(1, nodes), text(r)] })],
  [2, (r) => ({ text: 'update node set id = id + $1', values: [r.pick([-40, 40, 100])] })],
  [2, (r) => ({ text: 'update node set id = $2 where id = $1', values: [r.between(1, nodes), r.between(1, nodes)] })],
  [3, (r) => ({ text: 'delete from node where id = $1 or id not between 1 and $2', values: [r.between(1, nodes), nodes] })],
]; // biome-ignore format: one choice a line

const onTasks: readonly (readonly [number, Choose])[] = [
  [4, (r) => insert('task (id, owner_id, state, v, key)', many(r, 3, () => [r.between(1, tasks), r.pick(users), text(r), text(r), text(r)]), 'on conflict do nothing')],
  [4, (r) => ({ text: 'update task set state = $2, o = 0 where id = $1', values: [r.between(1, tasks), text(r)] })],
  [1, (r) => ({ text: 'update task set v = $1, key = $2 where id % 3 = 0', values: [text(r), text(r)] })],
  [2, (r) => ({ text: 'delete from task where id = $1', values: [r.between(1, tasks)] })],
]; // biome-ignore format: one choice a line

const onNotes: readonly (readonly [number, Choose])[] = [
  [5, (r) => ({ text: 'insert into other.note select $1, $2, $3 where not exists (select from other.note where id = $1)', values: [r.between(1, notes), r.pick(users), text(r)] })],
  [2, (r) => ({ text: 'update other.note set id = id + 1 where id between $1 and $1 + 3', values: [r.between(1, notes)] })],
  [2, (r) => ({ text: 'update other.note set id = $1 + $2 - id where id in ($1, $2)', values: [r.between(1, notes), r.between(1, notes)] })],
  [3, (r) => ({ text: 'delete from other.note where id = $1 or id > $2', values: [r.between(1, notes), notes] })],
]; // biome-ignore format: one choice a line

const amounts = ['1', '1.0', '1.00', '2', '2.5', '2.50', '3.000', '9007199254740993'];
const onPrices: readonly (readonly [number, Choose])[] = [
  [4, (r) => insert('price', [[r.pick(amounts), text(r)]], 'on conflict (amount) do update set label = excluded.label')],
  [2, (r) => ({ text: 'update price set amount = $1 where amount = $1', values: [r.pick(amounts)] })],
  [1, (r) => ({ text: 'update price set amount = $2 where amount = $1', values: [r.pick(amounts), r.pick(amounts)] })],
  [1, (r) => ({ text: 'delete from price where amount = $1', values: [r.pick(amounts)] })],
]; // biome-ignore format: one choice a line

const onEvents: readonly (readonly [number, Choose])[] = [
  [5, (r) => insert('event', many(r, 4, () => [r.between(1, 12), r.between(0, 3), text(r)]), 'on conflict do nothing')],
  [3, (r) => ({ text: 'update event set bucket = $2 where id = $1 and bucket = $3', values: [r.between(1, 12), r.between(0, 3), r.between(0, 3)] })],
  [2, (r) => ({ text: 'update event set body = $2 where id = $1', values: [r.between(1, 12), text(r)] })],
  [1, (r) => ({ text: 'update event_2 set body = $1 where id < 4', values: [text(r)] })],
  [2, (r) => ({ text: 'delete from event where id = $1', values: [r.between(1, 12)] })],
]; // biome-ignore format: one choice a line

const groups: readonly (readonly [number, readonly (readonly [number, Choose])[]])[] = [
  [5, onLists], [5, onShares], [8, onTodos], [2, onNodes], [2, onTasks], [2, onNotes], [1, onPrices], [2, onEvents],
]; // biome-ignore format: one row

export function randomStatement(random: Random): RandomStatement {
  return random.weighted(random.weighted(groups))(random);
}

const truncates = [
  'truncate todo',
  'truncate other.note',
  'truncate event',
  'truncate price, task',
  'truncate list cascade',
];

/** First in its transaction, because Postgres refuses it while triggers of earlier changes to the table are pending. */
export function randomTruncate(random: Random): RandomStatement {
  return { text: random.pick(truncates) };
}

/** Related statements on one key. */
export function randomSequence(random: Random): readonly RandomStatement[] {
  const id = todo(random);
  const rows = [todoRow(random), todoRow(random)].map((row) =>
    insert('todo', [[id, ...row.slice(1)]], 'on conflict do nothing'),
  );
  const remove = { text: 'delete from todo where id = $1', values: [id] };
  const [first, second] = [random.between(1, notes), random.between(1, notes)];
  const swap = (from: number, to: number) => ({
    text: 'update other.note set id = $2 where ctid = (select min(ctid) from other.note where id = $1)',
    values: [from, to],
  });
  return random.pick<readonly RandomStatement[]>([
    [remove, rows[0]!],
    [remove, rows[0]!, remove, rows[1]!],
    [rows[0]!, remove],
    [{ text: 'set constraints other.note_pkey deferred' }, swap(first, second), swap(second, first)],
    [
      { text: 'set constraints other.note_pkey deferred' },
      swap(first, second),
      {
        text: 'delete from other.note where ctid = (select max(ctid) from other.note where id = $1)',
        values: [second],
      },
    ],
  ]);
}
