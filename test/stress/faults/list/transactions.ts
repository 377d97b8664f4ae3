/** Faults in locks, isolation, and what a transaction has seen. */
import type { Fault } from '../fault.js';

export const transactions: readonly Fault[] = [
  {
    name: 'Each statement of a pull has its own snapshot.',
    find: 'begin isolation level repeatable read',
    replace: 'begin isolation level read committed',
    test: 'db/pg',
  },
  {
    name: 'Deadlocks are not retried.',
    find: "new Set(['40001', '40P01'])",
    replace: "new Set(['40001'])",
    test: 'db/sqlstate',
  },
  {
    name: 'Statements that an operator canceled fail permanently.',
    find: "'53', '57', '58'",
    replace: "'53', '58'",
    test: 'db/sqlstate',
  },
  {
    name: 'A COMMIT that rolls back counts as a commit.',
    find: "command === 'ROLLBACK')",
    replace: "command === 'ABORT')",
    test: 'writes/push-failures',
  },
  {
    name: '`migrate` reads a table’s columns before it has locked the table.',
    find: `await client.query(\`lock table \${relation} in share row exclusive mode\`);`,
    replace: '',
    test: 'schema/migrate',
  },
  {
    name: 'Two migrations run at the same time.',
    find: "await client.query('lock table tidemark.migration in share row exclusive mode');",
    replace: '',
    test: 'schema/migrate',
  },
  {
    name: 'Every role can block migrations by an advisory lock.',
    find: "'lock table tidemark.migration in share row exclusive mode'",
    replace: "`select pg_advisory_xact_lock(hashtextextended('tidemark migrate', 0))`",
    test: 'schema/migrate-locks',
  },
  {
    name: '`migrate` waits for a lock without a limit.',
    find: "select set_config('lock_timeout', '60s', true)",
    replace: "select set_config('lock_timeout', '0', true)",
    test: 'schema/migrate-locks',
  },
  {
    name: 'Cookies from another cluster stay valid.',
    find: ', install_id = gen_random_uuid()',
    replace: '',
    test: 'schema/migrate',
  },
  {
    name: 'Client records keep transaction IDs of another cluster.',
    find: "update tidemark.client set xid = '0'",
    replace: 'update tidemark.client set xid = xid',
    test: 'schema/migrate',
  },
  {
    name: 'The transaction at the horizon is pruned.',
    find: 'and xid >= $2::xid8 and xid < (select horizon',
    replace: 'and xid >= $2::xid8 and xid <= (select horizon',
    test: 'store/retention',
  },
  {
    name: 'A heartbeat records the end of its snapshot instead of its beginning.',
    find: 'select pg_snapshot_xmin(s), s,',
    replace: 'select pg_snapshot_xmax(s), s,',
    test: 'store/retention',
  },
  {
    name: 'Changes are pruned before the horizon has moved.',
    find: 'set horizon = greatest(meta.horizon, past.horizon), aging',
    replace: 'set horizon = meta.horizon, aging',
    test: 'store/retention',
  },
  {
    name: 'Two servers measure the same part of the log.',
    find: "`select pg_advisory_xact_lock(hashtextextended('tidemark heartbeat', 0))`,",
    replace: '',
    test: 'store/retention',
  },
  {
    name: 'The horizon of a new installation is older than its capture.',
    find: 'horizon xid8 not null default pg_snapshot_xmin(pg_current_snapshot())',
    replace: 'horizon xid8 not null default pg_snapshot_xmax(pg_current_snapshot())',
    test: 'store/retention',
  },
  {
    name: 'A client group that is being written to is deleted.',
    find: 'order by seen_at limit $2 for update skip locked',
    replace: 'order by seen_at limit $2 for key share skip locked',
    test: 'store/seen-groups',
  },
  {
    name: 'Calls with one idempotency key do not wait for each other.',
    find: 'hashtextextended(of_key, hashtextextended(of_user, 7))',
    replace: '(random() * 1000000)::bigint',
    test: 'rest/idempotency',
  },
  {
    name: 'The answer to an idempotency key is read with a snapshot older than the lock.',
    find: 'out answer text\n)\nlanguage plpgsql as',
    replace: 'out answer text\n)\nlanguage plpgsql stable as',
    test: 'store/idempotency-keys',
  },
  {
    name: 'A server on a crashed and recovered database keeps its cache of the change log.',
    find: "select concat(extract(epoch from pg_postmaster_start_time()), '/', extract(epoch from pg_stat_get_bgwriter_stat_reset_time()))",
    replace: 'select extract(epoch from pg_postmaster_start_time())::text',
    test: 'live/crashed',
  },
  {
    name: 'What a crash recovery replays counts as replayed from the primary.',
    find: 'case when pg_last_wal_receive_lsn() is not null then pg_last_wal_replay_lsn() end',
    replace: 'pg_last_wal_replay_lsn()',
    test: 'pulls/promotion',
  },
  {
    name: 'A server that missed a timeline does not know it.',
    find: 'case when previous.number = present.number - 1 then',
    replace: 'case when previous.number < present.number then',
    test: 'pulls/promotion',
  },
  {
    name: 'A database restored without heartbeats accepts cookies of its future.',
    find: 'is distinct from newest.id',
    replace: '<> newest.id',
    test: 'pulls/histories',
  },
  {
    name: 'A poll reads the whole log.',
    find: 'force_generic_plan set enable_seqscan = off set enable_bitmapscan = off',
    replace: 'force_generic_plan set enable_bitmapscan = off',
    test: 'store/log-plans',
  },
  {
    name: 'A delta reads the whole log.',
    find: 'set plan_cache_mode = force_generic_plan set enable_seqscan = off set jit = off as',
    replace: 'set plan_cache_mode = force_generic_plan set jit = off as',
    test: 'store/log-plans',
  },
];
