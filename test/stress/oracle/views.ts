/** Client views of every kind, and the comparison of a client's rows with the oracle's. */
import type { Client } from 'pg';
import type { Strategy } from '../../../packages/tidemark/src/view/compile/strategy.js';
import type { Views } from '../../../packages/tidemark/src/view/define.js';
import { users } from './schema.js';

export interface User {
  readonly userID: string;
}

export interface ViewSpec {
  readonly name: string;
  readonly strategy: Strategy;
  readonly key: readonly string[];
  /** `$1` is the user's ID. */
  readonly text: string;
  /** The view in the other role: another query with the same columns, or the same query for another user. */
  readonly other?: { readonly text?: string; readonly as?: string };
}

/** The viewer of the views. The role is the schema version that the client sends, and a user's views depend on it. */
export interface Viewer {
  readonly userID: string;
  readonly role: Role;
}

export type Role = '' | 'other';

export interface OracleView extends ViewSpec {
  readonly columns: readonly { readonly name: string; readonly exact: boolean }[];
  query(viewer: Viewer): { readonly text: string; readonly values: readonly string[] };
}

/** A client's rows by key, with values as `comparable` writes them. */
export type Holding = Map<string, string>;

const spec =
  (strategy: Strategy) =>
  (name: string, key: string, text: string, other?: ViewSpec['other']): ViewSpec => ({
    name,
    strategy,
    key: key.split(' '),
    text,
    ...(other && { other }),
  });
const incremental = spec('incremental');
const keyed = spec('keyed');
const compare = spec('compare');

export const viewSpecs: readonly ViewSpec[] = [
  incremental(
    'lists',
    'id',
    'select * from list where owner_id = $1 or id in (select list_id from share where user_id = $1)',
    { as: users[3]! },
  ),
  incremental(
    'todos',
    'id',
    `select * from todo where list_id in (
       select id from list where owner_id = $1 or id in (select list_id from share where user_id = $1))`,
  ),
  incremental(
    'open_todos',
    'id',
    `select t.id, t.rank from todo t where not t.done and (t.sort = 1 or exists (
       select from list l where l.id = t.list_id and (l.owner_id = $1 or exists (
         select from share s where s.list_id = l.id and s.user_id = $1 and s.role = 'write'))))`,
    { text: 'select t.id, t.rank from todo t where t.sort < 2' },
  ),
  incremental(
    'titled',
    'id list_id',
    'select t.id, l.id as list_id, l.name, t.title from todo t join list l on l.id = t.list_id where l.owner_id = $1',
  ),
  incremental(
    'shares',
    'list_id user_id',
    'select * from share where user_id = $1 or list_id in (select id from list where owner_id = $1)',
  ),
  incremental(
    'labels',
    'k',
    `select 'list ' || id::text as k, name as label from list where owner_id = $1
     union all select 'todo ' || id::text, title from todo where done
     union all select 'node ' || n.id::text, n.label from node n where n.parent_id is not null`,
  ),
  incremental(
    'reachable',
    'id',
    'select list_id as id from share where user_id = $1 union select id from list where owner_id = $1',
  ),
  incremental(
    'branches',
    'id',
    'select c.id, c.label, p.id as parent, p.label as parent_label from node c join node p on p.id = c.parent_id',
  ),
  incremental('notes', 'id', 'select other.note.id, other.note.body from other.note where other.note.user_id = $1'),
  incremental('nodes', 'id', 'select * from node', { text: 'select * from node where false' }),
  incremental('tasks', 'id', 'select * from task where owner_id = $1 or o > 3'),
  incremental('prices', 'amount', 'select * from price where amount > 1'),
  incremental('events', 'id bucket', 'select * from event where bucket < 3'),
  incremental(
    'list_tags',
    'tag id',
    'select distinct l.id, tag from list l cross join lateral unnest(l.tags) as tag where l.owner_id = $1',
  ),
  incremental('counters', 'client_id', 'select * from counter where user_id = $1'),
  keyed('top_todos', 'id', 'select id, title, sort from todo where done order by sort desc nulls last, id limit 10', {
    text: 'select id, title, sort from todo where done order by sort desc nulls last, id limit 4',
  }),
  keyed(
    'totals',
    'list_id',
    `select list_id, count(*) as n, sum(rank) as total, max(sort) as top
     from todo where list_id is not null group by list_id`,
  ),
  keyed(
    'mine_counted',
    'owner_id',
    `select owner_id, count(*) filter (where $1 > 'b') as n, bool_or($1 = 'bob') as bob, max($1) as who
     from list group by owner_id`,
  ),
  keyed(
    'lists_and_first',
    'id todo',
    `select l.id, coalesce(t.id::text, '') as todo, l.name, l.size, t.title
     from list l left join todo t on t.list_id = l.id and t.sort = 1 where l.owner_id = $1`,
  ),
  keyed(
    'places',
    'id',
    'select id, list_id, row_number() over (partition by list_id order by sort, id) as place from todo where list_id < 9',
  ),
  keyed(
    'unshared',
    'id',
    'select id, name from list l where owner_id = $1 and not exists (select from share s where s.list_id = l.id)',
    {
      text: 'select id, name from list l where not exists (select from todo t where t.list_id = l.id) and owner_id < $1',
    },
  ),
  keyed('latest_events', 'bucket', 'select distinct on (bucket) bucket, id, body from event order by bucket, id desc'),
  keyed(
    'mine',
    'id',
    `with mine as (select * from list where owner_id = $1), todo as (select * from todo where sort > 1)
     select t.id, mine.name from mine join todo t on t.list_id = mine.id`,
  ),
  compare(
    'rooted',
    'id',
    `with recursive rooted as (
       select id from node where parent_id is null union select n.id from node n join rooted r on n.parent_id = r.id
     ) select id from rooted`,
  ),
  keyed(
    'share_counts',
    'id',
    `select l.id, (select count(*) from share s where s.list_id = l.id) as shares, l.price, l.data, l.at
     from list l where l.owner_id = $1 or l.size > 9007199254740992`,
  ),
  keyed('unassigned', 'user_id', 'select user_id from share except select owner_id from list'),
];

/** The views of runs with standbys, and of runs of broken copies. */
export const fewViewSpecs: readonly ViewSpec[] = viewSpecs.filter(({ name }) =>
  ['lists', 'todos', 'counters', 'totals', 'events'].includes(name),
);

export function toViews(specs: readonly ViewSpec[]): Views<User> {
  return Object.fromEntries(
    specs.map((one) => [
      one.name,
      {
        key: one.key,
        query: ({ ctx: { userID }, schemaVersion }) =>
          seenBy(one, { userID, role: schemaVersion === 'other' ? 'other' : '' }),
      },
    ]),
  );
}

function seenBy({ text: ordinary, other }: ViewSpec, { userID, role }: Viewer): { text: string; values: string[] } {
  const { text = ordinary, as = userID } = role === 'other' && other ? other : {};
  return { text, values: valuesOf(text, as) };
}

function valuesOf(text: string, userID: string): string[] {
  return text.includes('$1') ? [userID] : [];
}

const exactTypes = new Set([20, 1700]); // int8, numeric

/** Adds the columns' descriptions from the database. */
export async function describeViews(client: Client, specs: readonly ViewSpec[]): Promise<OracleView[]> {
  const views: OracleView[] = [];
  for (const spec of specs) {
    const query = (viewer: Viewer) => seenBy(spec, viewer);
    const { text, values } = query({ userID: '', role: '' });
    const { fields } = await client.query({ text: `select * from (${text}) q limit 0`, values });
    const columns = fields.map(({ name, dataTypeID }) => ({ name, exact: exactTypes.has(dataTypeID) }));
    views.push({ ...spec, query, columns });
  }
  return views;
}

export function keyOf(view: ViewSpec, parts: readonly string[]): string {
  const escaped = parts.length === 1 ? parts : parts.map((part) => part.replaceAll('%', '%25').replaceAll('/', '%2F'));
  return `${view.name}/${escaped.join('/')}`;
}

/** A row as text, equal for equal rows: exact numbers by value, whether they arrived as numbers or as strings. */
export function comparable(view: OracleView, row: unknown): string {
  const fields = { ...(row as Record<string, unknown>) };
  for (const { name, exact } of view.columns) {
    if (exact && fields[name] != null) fields[name] = decimal(String(fields[name]));
  }
  return JSON.stringify(fields);
}

/** A decimal number without an exponent and without redundant zeros. */
function decimal(text: string): string {
  const [, sign, whole, fraction = '', exponent = '0'] = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(text) ?? [];
  if (whole === undefined) return text;
  const shift = Number(exponent);
  const digits = whole + fraction + '0'.repeat(Math.max(0, shift - fraction.length));
  const padded = '0'.repeat(Math.max(0, 1 - whole.length - shift)) + digits;
  const point = Math.max(1, whole.length + shift);
  const cut = `${padded.slice(0, point)}.${padded.slice(point)}`.replace(/^0+(?=\d)/, '').replace(/\.?0*$/, '');
  return cut === '0' ? '0' : `${sign}${cut}`;
}
