/** An issue tracker, and the changes that precede the pulls of its views. */
import type pg from 'pg';

/** Creates the tables, with the rows that all projects share. */
export async function createTables(pool: pg.Pool): Promise<void> {
  await pool.query(`
    create table person (id integer primary key, name text not null);
    create table member (project_id text, user_id text, primary key (user_id, project_id));
    create table issue (
      id integer primary key, project_id text not null, title text not null, state text not null, assignee_id integer,
      created date not null
    );
    create index on issue (project_id, id);
    create index on issue (project_id, created desc, id desc);
    create index on issue (assignee_id);
    create table comment (id bigserial primary key, issue_id integer not null, body text not null, at timestamptz not null default now());
    create index on comment (issue_id, at desc, id desc);
    create table label (id integer primary key, name text not null);
    create table issue_label (issue_id integer, label_id integer, primary key (issue_id, label_id));
    create index on issue_label (label_id);
    create table seen (user_id text, issue_id integer, primary key (user_id, issue_id));
    create index on seen (issue_id);
    create sequence new_issue increment -1;
    insert into person select n, 'Person ' || n from generate_series(1, 300) n;
    insert into label select n, 'Label ' || n from generate_series(1, 50) n;`);
}

/** Issues with consecutive numbers. */
export interface Project {
  readonly name: string;
  readonly first: number;
  readonly size: number;
}

/** Adds a project whose first member has seen nine tenths of its issues. Each issue has two comments and two labels. */
export async function addProject(
  pool: pg.Pool,
  name: string,
  size: number,
  members: readonly string[],
): Promise<Project> {
  await pool.query('insert into member select $1, unnest($2::text[])', [name, members]);
  const { rows } = await pool.query<{ first: number }>('select coalesce(max(id), 0) + 1 as first from issue');
  const first = rows[0]!.first;
  const ids = [first, first + size - 1];
  await pool.query(
    `insert into issue select n, $3, 'Issue ' || n, case n % 2 when 0 then 'open' else 'closed' end, 1 + n % 300,
       date '2020-01-01' + n / 100
     from generate_series($1::integer, $2::integer) n`,
    [...ids, name],
  );
  await pool.query(
    `insert into comment (issue_id, body) select n, 'Comment on ' || n from generate_series($1::integer, $2::integer) n, generate_series(1, 2)`,
    ids,
  );
  await pool.query(
    `insert into issue_label select n, 1 + (n + m) % 50 from generate_series($1::integer, $2::integer) n, generate_series(1, 2) m`,
    ids,
  );
  await pool.query(`insert into seen select $3, n from generate_series($1::integer, $2::integer) n where n % 10 > 0`, [
    ...ids,
    members[0],
  ]);
  return { name, first, size };
}

/** A statement that changes one issue of a project or part of it, and what a client of a view then receives. */
export interface Change {
  readonly view: string;
  readonly statement: string;
  /** An issue that the first member has not seen, or one of the newest. */
  readonly issue: 'unseen' | 'last';
  readonly ops: number;
}

const title = `update issue set title = 'Changed ' || random() where id = $1`;
const comment = `insert into comment (issue_id, body) values ($1, 'New ' || random())`;
const label = `insert into issue_label select $1, id from label l
  where not exists (select from issue_label where issue_id = $1 and label_id = l.id) limit 1`;
const issue = `insert into issue select nextval('new_issue'), project_id, 'New', state, assignee_id, date '2000-01-01' from issue where id = $1`;

const change = (view: string, statement: string): Change => ({ view, statement, issue: 'unseen', ops: 1 });

/** The changes for each view. Their costs must not grow with the view. */
export const changes: readonly Change[] = [
  change('plain', title),
  change('assignee', title),
  change('assignee-subselect', title),
  change('count', comment),
  change('group-by', comment),
  change('labels', label),
  change('unread', title),
  change('not-in', title),
  change('latest', comment),
  change('with', title),
  { view: 'top', statement: title, issue: 'last', ops: 1 },
  { view: 'top-count', statement: title, issue: 'last', ops: 1 },
];

/** The changes for views with two partitions, each with half of all rows. */
export const changesOfHalves: readonly Change[] = [
  { view: 'row-number', statement: title, issue: 'last', ops: 1 },
  change('by-state', issue),
];

/** @returns the number of the changed issue */
export async function apply(
  pool: pg.Pool,
  { view, statement, issue }: Change,
  { first, size }: Project,
): Promise<void> {
  const id =
    issue === 'last'
      ? first + size - 1 - Math.floor(40 * Math.random())
      : first + ((10 - (first % 10)) % 10) + 10 * Math.floor((Math.random() * (size - 10)) / 10);
  await pool.query({ name: `change ${view}`, text: statement, values: [id] });
}
