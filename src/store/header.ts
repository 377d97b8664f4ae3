/** What pulls must know before they are answered, read in the one snapshot that the answers show. */
import type { Statement } from '../db/database.js';
import { literal } from '../db/literal.js';
import { type Snapshot, unseenRanges } from '../protocol/snapshot.js';
import { render, type Template, toTemplate } from '../view/parse/template.js';
import { readSnapshot, type SnapshotFields, snapshotFields } from './snapshot.js';

export interface HeaderInput {
  /** The cookie's snapshot; undefined when there is no usable cookie. */
  readonly base: Snapshot | undefined;
  /** The cookie's, if it names one. */
  readonly tick?: string | null;
  /** The tables that the views read. */
  readonly tables: readonly { readonly id: number; readonly oid: number; readonly outline: string }[];
  /** The pulls that are served; any two may be of one client group. */
  readonly members: readonly Member[];
}

/** What a header is to say of one pull's client group. */
export interface Member {
  readonly clientGroupID: string;
  /** The cookie was given to this client group: only mutation IDs that moved since are wanted. */
  readonly sameGroup: boolean;
  /** The client that the request names, if it does. */
  readonly clientID: string | undefined;
}

/** What the database says to one pull. */
export interface Header extends SharedHeader, MemberHeader {}

/** What the statement that yields a patch says besides. */
export interface PatchHeader extends Header {
  /** The newest tick that every transaction in progress is younger than; null where there is none. */
  readonly tick: string | null;
  /**
   * A table has another outline than it is known by: the statement may have read another table, or other files than those that hold
   * what its snapshot shows.
   */
  readonly torn: boolean;
}

interface MemberHeader {
  /** The user to whom the client group belongs; null when it is unknown. */
  readonly owner: string | null;
  /** False when the request names a client that is unknown. */
  readonly clientKnown: boolean;
  readonly lastMutationIDs: Readonly<Record<string, number>> | null;
  /** The sum of the group's lastMutationIDs. */
  readonly mutations: number;
}

interface SharedHeader {
  readonly snapshot: Snapshot;
  /** The transaction ID that comes next, as far as this database knows. */
  readonly next: bigint;
  /** The database is a standby. */
  readonly recovery: boolean;
  readonly installID: string;
  /** The database's OID: a copy of it within the cluster has another. */
  readonly database: string;
  /** This database does not know the tick that the cookie names. */
  readonly diverged: boolean;
  readonly horizon: string;
  /** Snapshots with an xmin below are to be renewed. */
  readonly aging: string;
  /** The tables with changes that the base has not seen: `[table, number of log rows, at most 100]`. */
  readonly changed: readonly (readonly [table: number, rows: number])[];
  /** A table was truncated since the base. */
  readonly truncated: boolean;
}

/** So far are a table's changes counted: there are none, few or many. To read many in vain is worth a fresh cookie. */
export const countedRows = 100;

/**
 * What the base has not seen comes as ranges of transaction IDs, each read off the index in its order: no estimate can talk
 * Postgres into reading the table. The arrays stand in subqueries so that estimates do not depend on the values; otherwise it would
 * plan the prepared statement anew each time, which takes longer than running it.
 */
const headerSql = (fields: string, sources = '') => `
with unseen (low, high) as materialized (
  select * from unnest((select $2::xid8[]), (select $3::xid8[]))
)
select json_build_object(
  ${snapshotFields('$5::integer[]')},
  'begun', age(pg_snapshot_xmax(s)::xid),
  'recovery', pg_is_in_recovery(),
  'installID', m.install_id,
  'horizon', m.horizon::text,
  'aging', m.aging::text,
  'members', (
    select json_object_agg(place, json_build_object(
      'owner', (select user_id from tidemark.client_group where id = group_id),
      'clientKnown', client_id is null or exists (
        select from tidemark.client where id = client_id and client_group_id = group_id
      ),
      'lastMutationIDs', moved,
      'mutations', mutations
    ))
    from unnest((select $1::text[]), (select $4::boolean[]), (select $6::text[]))
      with ordinality member (group_id, same_group, client_id, place)
    cross join lateral (
      select coalesce(sum(last_mutation_id), 0) as mutations, json_object_agg(id, last_mutation_id) filter (
        where not same_group or exists (select from unseen where xid between low and high)
      ) as moved
      from tidemark.client where client_group_id = group_id
    ) clients
  ),
  'changed', (
    select coalesce(json_agg(json_build_array(t.id, c.rows)), '[]')
    from unnest((select $5::integer[])) t (id)
    cross join lateral (
      select count(*) as rows from (
        select from unseen
        cross join lateral (
          select from tidemark.change where table_id = t.id and xid between low and high order by xid limit ${countedRows}
        ) changes
        limit ${countedRows}
      ) counted
    ) c
    where c.rows > 0
  ),
  'truncated', exists (
    select from unseen
    join tidemark.change on key is null and table_id = any ($5::integer[]) and xid between low and high
  ),${fields}
)::text as line
from tidemark.meta m, pg_current_snapshot() s${sources}`;

/** What patches ask of a function; since the plan of this statement is kept as well, it is answered sooner without. */
const probeSql = headerSql(`
  'database', (select oid::text from pg_database where datname = current_database()),
  'diverged', $7::uuid is not null and not exists (select from tidemark.tick where id = $7::uuid)`);

/** COPY takes its snapshot before it waits for its tables; whether they are torn is asked once it has them. */
const patchHeaderSql = headerSql(
  `
  'database', w.database::text,
  'diverged', w.diverged,
  'tick', w.newest,
  'torn', exists (
    select from unnest($8::oid[], $9::bigint[]) known (oid, outline) where tidemark.outline(known.oid) is distinct from known.outline
  )`,
  ', tidemark.witness($7::uuid) w',
);

function values({ base, tick, tables, members }: HeaderInput): unknown[] {
  const ranges = base && unseenRanges(base);
  return [
    members.map(({ clientGroupID }) => clientGroupID),
    ranges?.lows ?? null,
    ranges?.highs ?? null,
    members.map(({ sameGroup }) => base !== undefined && sameGroup),
    `{${tables.map(({ id }) => id).join()}}`,
    members.map(({ clientID }) => clientID ?? null),
    tick ?? null,
  ];
}

/** The header alone, as `line`: the cheap question that most pulls end with. */
export function probe(input: HeaderInput): Statement {
  return { name: 'tidemark_probe', text: probeSql, values: values(input) };
}

let template: Template | undefined;

/** The header as a query without parameters, for a statement that yields the patch in the same snapshot. */
export function headerQuery(input: HeaderInput): string {
  template ??= toTemplate(patchHeaderSql);
  const { tables } = input;
  const outlines = [`{${tables.map(({ oid }) => oid).join()}}`, `{${tables.map(({ outline }) => outline).join()}}`];
  return render(template, [...values(input), ...outlines].map(literal));
}

interface HeaderLine extends Omit<SharedHeader, 'snapshot' | 'next'>, SnapshotFields {
  /** How many transaction IDs had been given out from the snapshot's xmax on. */
  readonly begun: number;
  readonly members: Readonly<Record<string, MemberHeader>>;
}

/** Each field by its name: to copy objects whose fields are not known takes longer than to parse the line. */
function toHeaders(line: HeaderLine): Header[] {
  const { begun, recovery, installID, database, diverged, horizon, aging, changed, truncated } = line;
  const snapshot = readSnapshot(line);
  const next = snapshot.xmax + BigInt(begun);
  return Object.values(line.members).map(({ owner, clientKnown, lastMutationIDs, mutations }) => ({
    snapshot,
    next,
    recovery,
    installID,
    database,
    diverged,
    horizon,
    aging,
    changed,
    truncated,
    owner,
    clientKnown,
    lastMutationIDs,
    mutations,
  }));
}

/**
 * What the line of a header says to each member, in their order.
 * @throws Problem when a standby has seen more than can be listed.
 */
export function readHeaders(line: string): Header[] {
  return toHeaders(JSON.parse(line) as HeaderLine);
}

/** The same of the line that comes with a patch. */
export function readPatchHeaders(line: string): PatchHeader[] {
  const parsed = JSON.parse(line) as HeaderLine & Pick<PatchHeader, 'tick' | 'torn'>;
  const { tick, torn } = parsed;
  return toHeaders(parsed).map((header) => ({ ...header, tick, torn }));
}
