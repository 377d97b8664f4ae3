import { afterAll, describe, expect, it } from 'vitest';
import { type CaptureInput, useCapture } from './captured.js';

const capture = useCapture(`
  create role capture_writer;
  grant usage on schema public to capture_writer`);

afterAll(async () => {
  await capture.database.pool.query('drop owned by capture_writer; drop role capture_writer');
});

/** Captures the writes, and expects this log and everything that must always hold. */
async function expectLog(input: CaptureInput, log: readonly string[]): Promise<void> {
  const captured = await capture.capture(input);
  expect(withoutSurplus(captured.log)).toEqual(withoutSurplus(log));
  expect(captured).toMatchObject({ exact: true, ownXid: true });
  if (!log.includes('truncate')) expect(captured.rebuilt).toEqual(captured.before);
}

/** Keys with and without an old row. Where keys repeat, an update logs more rows, which cancel others' surplus. */
function withoutSurplus(log: readonly string[]): Set<string> {
  return new Set(log.filter((entry) => !entry.startsWith('+') || !log.includes(`-${entry.slice(1)}`)));
}

const three = `
  create table t (id int primary key deferrable, n int, note text unique);
  insert into t values (1, 10, 'a'), (2, 20, 'b'), (3, 30, 'c')`;
/** Neither ON CONFLICT nor a foreign key accepts a deferrable key. */
const plain = three.replace(' deferrable', '');

/** A trigger of the application's own. */
function onRow(event: string, body: string): string {
  return `create function on_${event}() returns trigger language plpgsql as $$ begin ${body}; return null; end $$;
    create trigger a_${event} after ${event} on t for each row execute function on_${event}()`;
}

describe('the change log', () => {
  const merge = `merge into t using (values (1, 'del'), (2, 'upd'), (9, 'ins')) s (id, what) on t.id = s.id
    when matched and what = 'del' then delete
    when matched then update set n = t.n + 1
    when not matched then insert (id, n) values (s.id, 0)`;

  it.each<[string, string, string[], string[]]>([
    ['an insert of one row', three, ["insert into t values (4, 0, 'd')"], ['+4']],
    ['an insert of several rows', three, ['insert into t values (4, 0, null), (5, 0, null)'], ['+4', '+5']],
    ['an insert of no rows', three, ['insert into t select * from t where false'], []],
    ['an update', three, ['update t set n = 11 where id = 1'], ['-1']],
    ['an update of all rows', three, ['update t set n = n + 1'], ['-1', '-2', '-3']],
    ['an update that changes nothing', three, ['update t set n = n where id = 2'], ['-2']],
    ['an update of the key', three, ['update t set id = 9 where id = 1'], ['-1', '+9']],
    ['an update that gives each row the next row’s key', three, ['update t set id = id + 1'], ['-1', '-2', '-3', '+4']],
    ['a swap of two keys', three, ['update t set id = 3 - id where id < 3'], ['-1', '-2']],
    ['a delete', three, ['delete from t where id > 1'], ['-2', '-3']],
    [
      'two writes of the same row',
      three,
      ['update t set n = 0 where id = 1', 'delete from t where id = 1'],
      ['-1', '-1'],
    ],
    [
      'a delete and an insert of the same key',
      three,
      ['delete from t where id = 1', "insert into t values (1, 0, 'z')", 'delete from t where id = 1'],
      ['-1', '+1', '-1'],
    ],
    [
      'an insert with ON CONFLICT DO NOTHING',
      plain,
      ['insert into t values (1, 0), (4, 0) on conflict do nothing'],
      ['+4'],
    ],
    [
      'an insert with ON CONFLICT DO UPDATE',
      plain,
      ['insert into t values (1, 0), (4, 0) on conflict (id) do update set n = excluded.n'],
      ['-1', '+4'],
    ],
    ['a MERGE', plain, [merge], ['-1', '-2', '+9']],
    [
      'a rollback to a savepoint',
      three,
      ['savepoint s', 'delete from t', 'rollback to s', 'delete from t where id = 1'],
      ['-1'],
    ],
    ['a write in a savepoint', three, ['savepoint s', 'delete from t where id = 1', 'release s'], ['-1']],
    [
      'two writes in one statement',
      three,
      ["with gone as (delete from t where id = 1 returning *) insert into t select id + 10, n, note || '!' from gone"],
      ['-1', '+11'],
    ],
    [
      'a delete and an update of the same key in one statement',
      three,
      ['with gone as (delete from t where id = 1 returning id) update t set n = 5 where id in (1, 2)'],
      ['-1', '-2'],
    ],
    [
      'an insert of a duplicate key that is removed before the commit',
      three,
      [
        'set constraints t_pkey deferred',
        "insert into t values (8, 0, 'x'), (8, 0, 'y')",
        'update t set n = 1 where id = 8',
        "delete from t where note = 'y'",
      ],
      ['+8', '-8'],
    ],
    ['a truncation', three, ['truncate t'], ['truncate']],
    ['a write in a DO block', three, ['do $$ begin perform 1; update t set n = 0 where id = 3; end $$'], ['-3']],
    ['a prepared statement', three, ['prepare p (int) as delete from t where id = $1', 'execute p (2)'], ['-2']],
    [
      'a delete through a cursor',
      three,
      [
        'declare c cursor for select * from t order by id for update',
        'fetch 2 from c',
        'delete from t where current of c',
      ],
      ['-2'],
    ],
  ])('is exact after %s', (_, ddl, write, log) => expectLog({ ddl, write }, log));

  it.each<[string, string, string[], string[]]>([
    [
      'a MERGE that inserts a deleted key again',
      plain,
      [
        `merge into t using (values ('a'), ('z')) s (note) on t.note = s.note
         when matched then delete when not matched then insert values (1, 99, s.note)`,
      ],
      ['-1', '+1'],
    ],
    [
      'a MERGE that inserts a changed key again',
      plain,
      [
        `merge into t using (values ('a'), ('z')) s (note) on t.note = s.note
         when matched then update set id = 9 when not matched then insert values (1, 99, s.note)`,
      ],
      ['-1', '+9', '+1'],
    ],
    [
      'an ON CONFLICT that inserts a changed key again',
      plain,
      ["insert into t values (1, 0, 'y'), (1, 0, 'z') on conflict (id) do update set id = t.id + 50"],
      ['-1', '+51', '+1'],
    ],
    [
      'a delete and an insert of the same key in one statement',
      plain,
      ["with gone as (delete from t where id = 1 returning *) insert into t select id, n, note || '!' from gone"],
      ['-1', '+1'],
    ],
    [
      'a row trigger that updates the row just inserted',
      `${plain}; ${onRow('insert', 'update t set note = upper(note) where id = new.id')}`,
      ["insert into t values (4, 0, 'd'), (5, 0, 'e')"],
      ['+4', '+5', '-4', '-5'],
    ],
    [
      'a row trigger that deletes the row just inserted',
      `${plain}; ${onRow('insert', 'delete from t where id = new.id')}`,
      ["insert into t values (4, 0, 'd')"],
      ['+4', '-4'],
    ],
    [
      'a row trigger that inserts the deleted row again',
      `${plain}; ${onRow('delete', "insert into t values (old.id, 0, 'anew')")}`,
      ['delete from t where id = 1'],
      ['-1', '+1'],
    ],
    [
      'row triggers that change each other’s rows',
      `${plain}; ${onRow('update', 'if pg_trigger_depth() < 4 then update t set n = n + 1 where id = 4 - new.id; end if')}`,
      ['update t set n = 0'],
      ['-1', '-2', '-3'],
    ],
    [
      'a statement that calls a function that writes to the same table',
      `${plain}; create function add(id int) returns int language sql as 'insert into t values (id, 0) returning id'`,
      ['insert into t select add(10) + 1'],
      ['+10', '+11'],
    ],
  ])('is exact after %s', (_, ddl, write, log) => expectLog({ ddl, write }, log));

  it('is exact after an insert of 10,000 rows', async () => {
    const write = ['insert into t select i, i, null from generate_series(101, 10100) i'];
    const { log, ownXid } = await capture.capture({ ddl: three, write });
    expect(new Set(log).size).toBe(10_000);
    expect(log).toContain('+10100');
    expect(ownXid).toBe(true);
  });

  it('is exact after a COPY', async () => {
    // A DO block cannot read STDIN, so the server reads a file that it has written itself.
    const write = [
      "copy (select 4, 40, 'd' union all select 5, 50, 'e') to '/tmp/tidemark-copy'",
      "copy t from '/tmp/tidemark-copy'",
    ];
    await expectLog({ ddl: three, write }, ['+4', '+5']);
  });
});

describe('the change log of a table with a foreign key', () => {
  const child = (action: string) => `
    create table owner (id int primary key);
    insert into owner values (1), (2);
    create table t (id int primary key, owner_id int references owner ${action});
    insert into t values (10, 1), (11, 1), (12, 2);
    do $$ begin update t set heir = 3 - owner_id; exception when undefined_column then end $$`;

  it.each<[string, string[], string[]]>([
    ['on delete cascade', ['delete from owner where id = 1'], ['-10', '-11']],
    ['on delete set null', ['delete from owner where id = 1'], ['-10', '-11']],
    ['on update cascade', ['update owner set id = 3 where id = 2'], ['-12']],
    ['', ['truncate owner cascade'], ['truncate']],
    // The statement changes each row twice, once for each of its owners.
    ['on delete set null, heir int references owner on delete set null', ['delete from owner'], ['-10', '-11', '-12']],
  ])('is exact with the action "%s" after: %s', (action, write, log) => expectLog({ ddl: child(action), write }, log));
});

describe('the change log of a session', () => {
  const times = `
    create table t (id timestamptz primary key, span interval, f float8, d date, b bytea);
    insert into t values ('2026-03-04 05:06:07.89+02', '-1 year 2 mons -3 days 04:05:06.789', 0.1::float8 + 0.2, '2026-12-11', '\\x00ff');
    grant usage on schema public to capture_writer`;

  /** Types whose text is the same in every session. */
  const plainTypes = `
    create type mood as enum ('so so');
    create table t (id bigint primary key, f int, b bool, i2 int2, n numeric, o oid, u uuid, t text, v varchar(9), c char(3), name name,
      j json, jb jsonb, ip inet, net cidr, bits bit(3), vb varbit, mood mood, texts text[], moods mood[], n2 numeric[]);
    insert into t values (1, 2, true, 3, 1.50, 4294967295, 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 'é"', 'v', 'c', 'n', '{ "a" :1.0}',
      '{"b": 1.00}', '10.0.0.1/8', '10.0.0.0/8', '101', '1', 'so so', '{a,NULL,""}', '{so so}', '{1.0,NaN}')`;

  const sessions = [
    ["set datestyle to 'German'"],
    ["set intervalstyle to 'sql_standard'"],
    ['set extra_float_digits to 0'],
    ['set extra_float_digits to -15'],
    ["set timezone to 'Asia/Kathmandu'"],
    ["set bytea_output to 'escape'"],
    ['set session_replication_role to replica'],
    ['set role capture_writer'],
  ];

  it.each(sessions)('is exact after "%s", for types whose text does not depend on settings', async (session) => {
    const ddl = `${plainTypes};
      do $$ begin execute format('grant usage on schema %I to capture_writer', current_schema()); end $$;
      grant all on t to capture_writer`;
    const columns = 'f, b, i2, n, o, u, t, v, c, name, j, jb, ip, net, bits, vb, mood, texts, moods, n2';
    const insert = `insert into t select id + 1, ${columns} from t`;
    const { log, ...captured } = await capture.capture({ ddl, write: [insert, session, 'update t set f = 7'] });
    expect(log).toHaveLength(3);
    expect(captured).toMatchObject({ exact: true, ownXid: true, rebuilt: captured.before });
  });

  it.each(sessions)('is exact after "%s", for types whose text depends on settings', async (session) => {
    const ddl = `${times};
      do $$ begin execute format('grant usage on schema %I to capture_writer', current_schema()); end $$;
      grant all on t to capture_writer`;
    // One session finds what another has written, so both must have written it as the same text.
    const insert = `insert into t select id + interval '1 year', span, f, d, b from t`;
    const { log, ...captured } = await capture.capture({ ddl, write: [insert, session, 'update t set f = 7'] });
    expect(log).toHaveLength(3);
    expect(captured).toMatchObject({ exact: true, ownXid: true, rebuilt: captured.before });
  });

  it('is exact with an empty search path', async () => {
    const ddl = three;
    const write = [
      `do $$ declare s text := current_schema(); begin
      perform set_config('search_path', '', true);
      execute format('update %I.t set n = 0 where id = 1', s); end $$`,
    ];
    await expectLog({ ddl, write }, ['-1']);
  });

  it('is exact with tables on the search path that are named like Tidemark’s', async () => {
    const session = `set search_path to pg_temp, public; create temp table new_rows (id int); create temp table old_rows (id int);
      create temp table change (id int)`;
    const write = [
      `do $$ declare s text; begin
      select nspname into s from pg_namespace where nspname like 'case\\_%' order by substr(nspname, 6)::int desc limit 1;
      execute format('delete from %I.t where id = 1', s); end $$`,
    ];
    await expectLog({ ddl: three, session, write }, ['-1']);
  });
});

describe('the change log of a partitioned table', () => {
  const partitioned = `
    create table t (id int, n int, note text, primary key (id)) partition by range (id);
    create table low partition of t for values from (0) to (100);
    create table middle (note text, gone int, n int, id int not null primary key);
    alter table middle drop column gone;
    alter table t attach partition middle for values from (100) to (200);
    create table high partition of t for values from (200) to (400) partition by list (id);
    create table high_odd partition of high for values in (201, 203);
    create table high_rest partition of high default;
    insert into t values (1, 1, 'a'), (101, 2, 'b'), (201, 3, 'c'), (202, 4, 'd')`;

  it.each<[string, string[], string[]]>([
    ['an update through the parent', ['update t set n = n + 1'], ['-1', '-101', '-201', '-202']],
    [
      'an insert through the parent',
      ["insert into t values (2, 0, ''), (102, 0, ''), (203, 0, '')"],
      ['+2', '+102', '+203'],
    ],
    ['an insert into a partition', ["insert into low values (3, 0, 'x')"], ['+3']],
    [
      'writes to a partition with its columns in another order',
      ["update middle set note = 'z'", 'delete from middle'],
      ['-101', '-101'],
    ],
    ['writes to a partitioned partition', ['update high set n = 9', 'delete from high_odd'], ['-201', '-202', '-201']],
    [
      'moves between partitions',
      ['update t set id = case when id < 100 then id + 102 else id - 100 end where id < 200'],
      ['-1', '+103', '-101', '+1'],
    ],
    ['a change of key within a partition', ['update t set id = 50 where id = 1'], ['-1', '+50']],
    ['a truncation of the parent', ['truncate t'], ['truncate']],
    [
      'a MERGE',
      [
        'merge into t using (values (1), (50)) s (id) on t.id = s.id when matched then update set id = 150 when not matched then insert values (s.id, 0)',
      ],
      ['-1', '+150', '+50'],
    ],
    [
      'a COPY into the parent',
      ["copy (select 5, 5, 'five') to '/tmp/tidemark-copy-2'", "copy t from '/tmp/tidemark-copy-2'"],
      ['+5'],
    ],
  ])('is exact after %s', (_, write, log) => expectLog({ ddl: partitioned, write }, log));
});
