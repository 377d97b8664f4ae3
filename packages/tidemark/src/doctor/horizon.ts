/** Finds old transactions, slots and standbys that hold back the horizon. */
import type { Database } from '../db/database.js';
import { literal } from '../db/literal.js';
import { type Finding, finding } from './finding.js';

/** A session or other object for which Postgres retains old row versions. */
export interface Holder {
  readonly kind: 'session' | 'prepared transaction' | 'replication slot' | 'standby';
  /** The process ID of a session; otherwise a name. */
  readonly name: string;
  readonly database: string | null;
  readonly role: string | null;
  /** The application's name, and its state; null if they are hidden from the connected role. */
  readonly application: string | null;
  readonly state: string | null;
  /** The time since it began; null if unknown. */
  readonly seconds: number | null;
  /** The number of transactions that have begun since. */
  readonly transactions: number;
}

const holdersSql = `
  select 'session' as kind, pid::text as name, datname::text as database, usename::text as role,
    application_name as application, state, extract(epoch from clock_timestamp() - xact_start)::float8 as seconds,
    greatest(age(backend_xid), age(backend_xmin)) as transactions
  from pg_stat_activity
  where coalesce(backend_xid, backend_xmin) is not null and pid <> pg_backend_pid()
    and coalesce(backend_type, '') not in ('walsender', 'autovacuum worker')
  union all
  select 'prepared transaction', gid, database::text, owner::text, null, null,
    extract(epoch from clock_timestamp() - prepared)::float8, age(transaction)
  from pg_prepared_xacts
  union all
  select 'replication slot', slot_name::text, database::text, null, plugin::text,
    case when active then 'active' else 'inactive' end, null, greatest(age(xmin), age(catalog_xmin))
  from pg_replication_slots where coalesce(xmin, catalog_xmin) is not null
  union all
  select 'standby', pid::text, null, usename::text, application_name, state, null, age(backend_xmin)
  from pg_stat_replication where backend_xmin is not null`;

const maxHeldSeconds = 60 * 60;
const maxHeldTransactions = 1_000_000;

/** Reads everything that holds back the horizon, whatever its age. */
export async function readHolders(db: Database): Promise<Holder[]> {
  return db.query<Holder>({ text: holdersSql });
}

/** Reports the holders that are an hour old or, if the time is unknown, a million transactions old. */
export function judgeHolders(holders: readonly Holder[]): Finding[] {
  return holders
    .filter(({ seconds, transactions }) =>
      seconds === null ? transactions >= maxHeldTransactions : seconds >= maxHeldSeconds,
    )
    .toSorted((a, b) => b.transactions - a.transactions)
    .map((holder) => {
      const [advice, sql] = remedyFor(holder);
      return finding('horizon-held', { subject: `${holder.kind} ${holder.name}`, what: describe(holder), advice, sql });
    });
}

function describe({ kind, name, database, role, application, state, seconds, transactions }: Holder): string {
  const since = seconds === null ? '' : ` for ${(seconds / 3600).toFixed(1)} hours,`;
  const facts = [
    database !== null && `database ${database}`,
    role !== null && `role ${role}`,
    application && `application ${application}`,
    state,
  ].filter(Boolean);
  return `The ${kind} ${name} (${facts.join(', ')}) has held back the horizon${since} while ${transactions} transactions began.`;
}

function remedyFor({ kind, name }: Holder): [advice: string, sql: string | null] {
  switch (kind) {
    case 'session':
      return [
        'Let the transaction end, or end the session; find out why it stays open.',
        `select pg_terminate_backend(${name})`,
      ];
    case 'prepared transaction':
      return ['Commit it, or roll it back.', `rollback prepared ${literal(name)}`];
    case 'replication slot':
      return ['If nobody reads from it any more, drop it.', `select pg_drop_replication_slot(${literal(name)})`];
    case 'standby':
      return ['Look for a long query on the standby. Its hot_standby_feedback holds back the primary.', null];
  }
}
