/** The data of the application `teams`. */
import type pg from 'pg';

/** The number of members of a team. All of them see each of its documents. */
export const members = 40;
export const documents = 20;
/** The documents of the large team, whose only member makes large first pulls. */
export const manyDocuments = 2_000;

export const userOf = (team: number, member: number): string => `t${team}.u${member}`;

/** The ID of a team's document, by its number from 0. */
export const documentOf = (team: number, n = 0): number => team * documents + (n % documents);

/** Team 0 is the large one. Its documents have their own IDs. */
export async function seedTeams(pool: pg.Pool, teams: number): Promise<void> {
  await pool.query(`
    create table member (team_id integer, user_id text, primary key (user_id, team_id));
    create table doc (id integer primary key, team_id integer not null, title text not null, body text not null);
    create index on doc (team_id)`);
  await pool.query(
    `insert into member select t, 't' || t || '.u' || m
     from generate_series(1, $1::integer) t, generate_series(0, $2::integer - 1) m union all select 0, 't0.u0'`,
    [teams, members],
  );
  const row = `'Document ' || id, rpad('', 100, md5(id::text))`;
  await pool.query(
    `insert into doc select id, id / $2::integer, ${row}
     from generate_series($2::integer, ($1::integer + 1) * $2::integer - 1) id`,
    [teams, documents],
  );
  await pool.query(`insert into doc select -id, 0, ${row} from generate_series(1, $1::integer) id`, [manyDocuments]);
  await pool.query('vacuum analyze');
}
