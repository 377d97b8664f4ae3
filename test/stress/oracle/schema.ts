/** The application whose data the oracle changes. Its names and values are difficult ones. */
export interface OracleTable {
  readonly schema: string;
  readonly name: string;
  readonly primaryKey: readonly string[];
  /** The constraint, if it can be violated until the commit. */
  readonly deferrableKey?: string;
}

const inPublic = (name: string, ...primaryKey: string[]): OracleTable => ({ schema: 'public', name, primaryKey });

export const tables: readonly OracleTable[] = [
  inPublic('list', 'id'),
  inPublic('share', 'list_id', 'user_id'),
  inPublic('todo', 'id'),
  inPublic('node', 'id'),
  inPublic('task', 'id'),
  inPublic('price', 'amount'),
  inPublic('event', 'id', 'bucket'),
  inPublic('counter', 'client_id'),
  { schema: 'other', name: 'note', primaryKey: ['id'], deferrableKey: 'other.note_pkey' },
];

export const users: readonly string[] = ['ann', "o'neil", 'zoë', 'bob'];

export const schemaSql = `
  create schema other;

  create table list (
    id int primary key, owner_id text not null, name text, size bigint, price numeric, data jsonb, at timestamptz, tags text[]
  );
  create table share (
    list_id int references list on delete cascade on update cascade, user_id text, role text,
    primary key (list_id, user_id)
  );
  create table todo (
    id uuid primary key, list_id int references list on delete cascade on update cascade,
    title text, done boolean not null default false, sort int, rank numeric
  );

  -- A changed key reaches the rows below through a second statement, inside the first.
  create table node (
    id int primary key, parent_id int references node on update cascade on delete set null, label text
  );

  -- So does this trigger's change. The columns are called like aliases that a careless statement might use.
  create table task (id int primary key, owner_id text not null, state text, o int not null default 0, v text, key text);
  create function task_counts_itself() returns trigger language plpgsql as $$
  begin
    if pg_trigger_depth() < 2 then update task set o = o + 1 where id = new.id; end if;
    return null;
  end $$;
  create trigger counts_itself after insert or update on task for each row execute function task_counts_itself();

  -- 1.0 and 1.00 are the same key, and different text.
  create table price (amount numeric primary key, label text);

  create table event (id int, bucket int, body text, primary key (id, bucket)) partition by list (bucket);
  create table event_0 partition of event for values in (0, 1);
  create table event_2 partition of event for values in (2, 3);

  -- A deferrable key may be held twice until the commit.
  create table other.note (id int, user_id text, body text, primary key (id) deferrable initially immediate);

  create table counter (client_id text primary key, user_id text not null, n int not null, effects int not null);
  create table effect (client_id text not null, n int not null);
`;

/** The users of a crowd, who are colleagues of each other. */
export const crowdUser = (n: number): string => `crowd ${n}`;

/** Everything shared with bob is also shared with every fifth user of the crowd, and taken from them with him. */
export function crowdSql(size: number): string {
  return `
  create function crowd_follows() returns trigger language plpgsql as $$
  begin
    if tg_op <> 'INSERT' and old.user_id = 'bob' then
      delete from share where list_id = old.list_id and user_id like 'crowd %';
    end if;
    if tg_op <> 'DELETE' and new.user_id = 'bob' then
      insert into share select l.id, 'crowd ' || n, new.role
      from list l, generate_series(0, ${size - 1}) n where l.id = new.list_id and n % 5 = l.id % 5
      on conflict (list_id, user_id) do update set role = excluded.role;
    end if;
    return null;
  end $$;
  create trigger crowd_follows after insert or update or delete on share
    for each row when (pg_trigger_depth() = 0) execute function crowd_follows();`;
}
