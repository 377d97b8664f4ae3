/** Views whose arguments would decide about the values of rows are refused; all others are served. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineView, migrate, sql } from '../../../packages/tidemark/src/index.js';
import { sampleInputFor } from '../../../packages/tidemark/src/sample-args.js';
import { ClientViews } from '../../../packages/tidemark/src/view/client-views.js';
import type { View } from '../../../packages/tidemark/src/view/define.js';
import { silent } from '../../support/log.js';
import { useDatabase } from './opened.js';

const opened = useDatabase(`
    create table issue (
      id text primary key, project_id text not null, title text not null, body text, created timestamptz not null,
      names jsonb, search tsvector);
    create table comment (id text primary key, issue_id text not null, created timestamptz not null);
    create table tag (issue_id text, name text, primary key (issue_id, name))`);

interface Args {
  projectID: string;
  q: string;
  from: string;
  to: string;
  ids: string[];
  isLong: boolean;
  locale?: string | undefined;
  kind: 'open' | 'closed';
}

const args = z.object({
  projectID: z.string(),
  q: z.string(),
  from: z.iso.datetime(),
  to: z.iso.datetime(),
  ids: z.array(z.string()),
  isLong: z.boolean(),
  locale: z.string().optional(),
  kind: z.enum(['open', 'closed']),
});

type Query = (input: { args: Args; ctx: { userID: string } }) => ReturnType<typeof sql>;

async function resolve(query: Query, options: Partial<View<never>> = {}): Promise<unknown> {
  const view = { ...defineView({ args, query: query as never, key: 'id' }), ...options };
  const views = { issue: view as View<{ userID: string }> };
  return new ClientViews(opened.db, views).resolve(await sampleInputFor({ views }), '');
}

describe('a view is served if', () => {
  it.each<[what: string, query: Query]>([
    [
      'arguments are only in its conditions',
      ({ args: a }) => sql`select id, title from issue where title ilike ${a.q}`,
    ],
    [
      'an argument is a column that equals it',
      ({ args: a }) => sql`select id, ${a.projectID} as "projectID" from issue where project_id = ${a.projectID}`,
    ],
    [
      'an argument equals a column in a subquery',
      ({ args: a }) => sql`
        with mine as (select * from issue where project_id = ${a.projectID}) select id, ${a.projectID} as p from mine`,
    ],
    [
      'an argument equals a column that another one may leave out',
      ({ args: a }) => sql`
        select id, ${a.q} as q from issue where ${a.isLong}::boolean or project_id is not distinct from ${a.q}`,
    ],
    [
      'a value derived from an argument equals a column',
      ({ args: a }) => sql`select id, ${a.q} as q from issue where project_id = ${`project/${a.q}`}`,
    ],
    [
      'an argument is a list of values of a column',
      ({ args: a }) => sql`select id, cardinality(${a.ids}::text[]) as n from issue where id = any(${a.ids})`,
    ],
    [
      'two arguments are bounds of a column',
      ({ args: a }) => sql`
        select id, ${a.from}::timestamptz as month from issue where created >= ${a.from} and created < ${a.to}`,
    ],
    [
      'an argument bounds a column twice',
      ({ args: a }) => sql`
        select id, ${a.from}::timestamptz as month from issue
        where created >= ${a.from} and created < ${a.from}::timestamptz + interval '1 month'`,
    ],
    [
      'an argument is a range of values of a column',
      ({ args: a }) => sql`
        select id, ${a.from}::timestamptz as month from issue
        where created <@ tstzrange(${a.from}, ${a.from}::timestamptz + interval '1 month')`,
    ],
    [
      'a subquery of a column repeats a condition',
      ({ args: a }) => sql`
        select id, (select count(*) from comment c where c.issue_id = i.id and c.issue_id = any(${a.ids})) as n
        from issue i where i.id = any(${a.ids})`,
    ],
    [
      'a subquery of a column repeats a condition that is a column itself',
      ({ args: a }) => sql`
        select id, (
          select count(*) from (select issue_id, created > ${a.from} as is_new from comment) c
          where c.issue_id = i.id and is_new) as n
        from issue i where i.created > ${a.from}`,
    ],
    [
      'a recursive query starts at an argument that a column equals',
      ({ args: a }) => sql`
        with recursive up as (
          select id, body, ${a.q} as q from issue where id = ${a.q}
          union all select i.id, i.body, up.q from issue i join up on i.body = up.id)
        select id, q from up`,
    ],
    [
      'the user decides about a column',
      ({ args: a, ctx }) => sql`
        select id, id = ${ctx.userID} as mine, ${ctx.userID} as me from issue where title ilike ${a.q}`,
    ],
    ['an argument sorts and limits it', ({ args: a }) => sql`select id from issue order by id = ${a.q}, id limit 3`],
    [
      'an argument is in the condition of a join',
      ({ args: a }) => sql`
        select i.id, t.name from issue i left join tag t on t.issue_id = i.id and t.name = ${a.q}`,
    ],
    [
      'an aggregate is over rows that an argument restricts',
      ({ args: a }) => sql`select project_id as id, count(*) as n from issue where created > ${a.from} group by 1`,
    ],
  ])('%s', async (_, query) => {
    await expect(resolve(query)).resolves.toHaveLength(1);
  });

  it('the argument belongs to the key', async () => {
    const query: Query = ({ args: a }) => sql`
      select id, ${a.q} as q, ts_rank(search, plainto_tsquery('simple', ${a.q})) as rank from issue
      where search @@ plainto_tsquery('simple', ${a.q})`;
    await expect(resolve(query, { key: ['q', 'id'] })).resolves.toHaveLength(1);
    await expect(resolve(query)).rejects.toThrow('its column q depends');
  });

  it('only a column that the client does not receive depends on an argument', async () => {
    const query: Query = ({ args: a }) => sql`select id, title, ${a.q} as q from issue where title ilike ${a.q}`;
    await expect(resolve(query, { value: 'title' })).resolves.toHaveLength(1);
    await expect(resolve(query, { value: 'q' })).rejects.toThrow('its column q depends');
  });

  it('its validator accepts only the sample, or throws', async () => {
    const q = z.string().transform((text) => JSON.parse(text) as string);
    const views = {
      issue: defineView({
        args: z.object({ q, kind: z.literal('open') }),
        sampleArgs: { q: '"x"', kind: 'open' },
        query: (input) => sql<{ id: string }>`select id, ${input.args.q} as q, ${input.args.kind} as kind from issue`,
        key: 'id',
      }),
    };
    await expect(new ClientViews(opened.db, views).resolve(await sampleInputFor({ views }), '')).resolves.toHaveLength(
      1,
    );
  });

  it('its query accepts only the sample', async () => {
    const query: Query = ({ args: { q } }) => {
      if (q !== 'x') throw new Error('unknown');
      return sql`select id, ${q} as q from issue`;
    };
    await expect(resolve(query)).resolves.toHaveLength(1);
  });
});

describe('a view is refused if', () => {
  it.each<[what: string, query: Query, column: string]>([
    [
      'a column is an argument that only a pattern matches',
      ({ args: a }) => sql`select id, ${a.q} as q from issue where title ilike ${a.q}`,
      'q',
    ],
    [
      'a column is the rank in a search',
      ({ args: a }) => sql`
        select id, ts_rank(search, plainto_tsquery('simple', ${a.q})) as rank from issue
        where project_id = ${a.projectID} and search @@ plainto_tsquery('simple', ${a.q})`,
      'rank',
    ],
    [
      'an optional argument chooses a text',
      ({ args: a }) => sql`
        select id, names ->> ${a.locale ?? 'en'}::text as name from issue where project_id = ${a.projectID}`,
      'name',
    ],
    [
      'an argument leaves a column out',
      ({ args: a }) => sql`
        select id, case when ${a.isLong} then body end as body from issue where project_id = ${a.projectID}`,
      'body',
    ],
    [
      'one of several values of an argument is compared',
      ({ args: a }) => sql`select id, title = ${a.kind} as "isKind" from issue where project_id = ${a.projectID}`,
      'isKind',
    ],
    [
      'a list chooses a column',
      ({ args: a }) => sql`select id, id = any(${a.ids}) as starred from issue where project_id = ${a.projectID}`,
      'starred',
    ],
    [
      'a subquery counts since an argument',
      ({ args: a }) => sql`
        select id, (select count(*) from comment c where c.issue_id = i.id and c.created > ${a.from}) as n
        from issue i where i.project_id = ${a.projectID}`,
      'n',
    ],
    [
      'a subquery is limited by an argument',
      ({ args: a }) => sql`
        select id, array(select c.id from comment c where c.issue_id = i.id order by c.id limit length(${a.q})) as latest
        from issue i`,
      'latest',
    ],
    [
      'the instances are nested',
      ({ args: a }) => sql`select id, created - ${a.from}::timestamptz as age from issue where created > ${a.from}`,
      'age',
    ],
    [
      'a subquery in FROM has the column',
      ({ args: a }) => sql`select s.id, s.hit from (select *, lower(title) = ${a.q} as hit from issue) s`,
      'hit',
    ],
    [
      'a WITH query has the column',
      ({ args: a }) => sql`
        with s as (select id, title || ${a.q} as named from issue) select s.* from s join comment c on c.issue_id = s.id`,
      'named',
    ],
    [
      'one arm of a union has the column',
      ({ args: a }) => sql`
        select id, title as t from issue where body is null
        union all select id, ${a.q} from issue where body is not null`,
      't',
    ],
    [
      'a recursive query has the column',
      ({ args: a }) => sql`
        with recursive up as (
          select id, body, ${a.q} as q from issue where title ilike ${a.q}
          union all select i.id, i.body, up.q from issue i join up on i.body = up.id)
        select id, q from up`,
      'q',
    ],
    [
      'a join with merged columns has the column',
      ({ args: a }) => sql`
        select id, hit from issue full join (select id, title = ${a.q} as hit from issue) t using (id)`,
      'hit',
    ],
    [
      'groups have the column',
      ({ args: a }) => sql`select project_id as id, count(*) filter (where title = ${a.q}) as n from issue group by 1`,
      'n',
    ],
  ])('%s', async (_, query, column) => {
    const problem = `The view "issue" cannot be served: the value of its column ${column} depends on an argument`;
    await expect(resolve(query)).rejects.toThrow(problem);
  });

  it('migrate says which one, and what to do', async () => {
    const hits = defineView({
      args: z.object({ q: z.string() }),
      query: ({ args: { q } }) => sql<{ id: string }>`select id, ${q} as q from issue where title ilike ${q}`,
      key: 'id',
    });
    await expect(migrate({ database: opened.database.url, views: { hits }, log: silent })).rejects.toThrow(
      /The view "hits" .*column q .*add that to the key, or leave the column out/s,
    );
  });
});

describe('a view whose query text depends on an argument is refused, if that is', () => {
  it.each<[which: string, query: Query]>([
    [
      'an optional one',
      ({ args }) =>
        args.locale
          ? sql`select id from issue where project_id = ${args.projectID} and title = ${args.locale}`
          : sql`select id from issue where project_id = ${args.projectID}`,
    ],
    [
      'one of several words',
      ({ args }) =>
        args.kind === 'open' ? sql`select id from issue where body is null` : sql`select id from issue where true`,
    ],
    [
      'a list',
      ({ args }) => ({ text: `select id from issue where id in (${args.ids.map((id) => `'${id}'`)})`, values: [] }),
    ],
  ])('%s', async (_, query) => {
    await expect(resolve(query)).rejects.toThrow(/^The view "issue" cannot be served: the text of its query depends/);
  });
});

it('sample arguments are JSON, and the error says so', async () => {
  const since = z.object({ since: z.date() });
  const query = () => sql<{ id: string }>`select id from issue`;
  const refusal = (view: object) => sampleInputFor({ views: { issue: view as View<{ userID: string }> } });
  await expect(refusal(defineView({ args: since, query, key: 'id' }))).rejects.toThrow(/which has no dates/);
  const withSample = defineView({ args: since, sampleArgs: { since: '2026-01-01' as never }, query, key: 'id' });
  await expect(refusal(withSample)).rejects.toThrow(
    /its `sampleArgs` are refused .*They must be as a client sends them/,
  );
});
