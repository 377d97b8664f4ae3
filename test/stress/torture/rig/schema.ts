/** The tables of the servers under test. */
import type pg from 'pg';

/** `effect` accepts a mutation twice, so that a double run is visible. */
const ddl = `
  create table if not exists counter (client_id text primary key, owner_id text not null, n int not null, effects int not null);
  create index if not exists counter_owner on counter (owner_id);
  create table if not exists effect (client_id text not null, n int not null);
  create table if not exists account (id text primary key, owner_id text not null, balance int not null);
  create index if not exists account_owner on account (owner_id);
  create table if not exists document (id text primary key, owner_id text not null, body text not null);
  create index if not exists document_owner on document (owner_id);
  create table if not exists hot (n int not null);
  insert into hot select 0 where not exists (select from hot);
  create table if not exists guarded (id int primary key, value int not null check (value > 0), parent int references guarded);
  insert into guarded values (1, 1, null) on conflict do nothing`;

const accountsPerUser = 4;
const balance = 1000;

/** The sum of a user's accounts, at all times. */
export const wealth: number = accountsPerUser * balance;

export function accountOf(user: string, number: number): string {
  return `${user} ${number % accountsPerUser}`;
}

/** Creates the missing tables. */
export async function createTables(pool: pg.Pool): Promise<void> {
  await pool.query(ddl);
}

/** Creates users' accounts. */
export async function addUsers(pool: pg.Pool, users: readonly string[]): Promise<void> {
  await pool.query(
    `insert into account select u || ' ' || n, u, ${balance}
     from unnest($1::text[]) u, generate_series(0, ${accountsPerUser - 1}) n on conflict do nothing`,
    [users],
  );
}

/** Adds this many documents of about 200 bytes each for a user. */
export async function addDocuments(pool: pg.Pool, user: string, count: number): Promise<void> {
  await pool.query(
    `insert into document select $1 || ' ' || n, $1, repeat(md5(n::text), 6) from generate_series(1, $2::int) n`,
    [user, count],
  );
}

/** The number of users whose accounts have another sum. */
export async function countPoor(pool: pg.Pool): Promise<number> {
  const { rowCount } = await pool.query('select from account group by owner_id having sum(balance) <> $1', [wealth]);
  return rowCount!;
}
