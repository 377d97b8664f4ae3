/** Checks that the change log fits its retention and its disk, and that it is cleaned up. */
import type { Config } from '../config.js';
import type { Database } from '../db/database.js';
import { defaultRetention } from '../store/retention.js';
import { type Finding, finding } from './finding.js';

/** Measurements of the change log's growth. Times are in seconds. */
interface LogGrowth {
  /** The time since the last heartbeat; null if there has been none. */
  readonly sinceHeartbeat: number | null;
  /** The amount that was logged during the measured part of the last day, and the length of that part. */
  readonly dayBytes: number;
  readonly daySeconds: number;
  readonly diskBytes: number;
  readonly live: number;
  readonly dead: number;
  readonly isVacuumed: boolean;
}

const growthSql = `
  with day as (
    select at, bytes, min(at) over () as first from tidemark.heartbeat where at > clock_timestamp() - interval '1 day'
  )
  select extract(epoch from clock_timestamp() - (select max(at) from tidemark.heartbeat))::float8 as "sinceHeartbeat",
    -- What the first heartbeat has measured came before it.
    (select coalesce(sum(bytes) filter (where at > first), 0)::float8 from day) as "dayBytes",
    (select coalesce(extract(epoch from max(at) - min(at)), 0)::float8 from day) as "daySeconds",
    pg_total_relation_size('tidemark.change')::float8 as "diskBytes",
    coalesce(n_live_tup, 0)::float8 as live, coalesce(n_dead_tup, 0)::float8 as dead,
    coalesce((
      select option_value::boolean from pg_options_to_table(c.reloptions) where option_name = 'autovacuum_enabled'
    ), true) as "isVacuumed"
  from pg_class c left join pg_stat_all_tables s on s.relid = c.oid
  where c.oid = 'tidemark.change'::regclass`;

/** Servers write a heartbeat once a minute. */
const maxSilentSeconds = 10 * 60;
/** Growth over a shorter time does not predict the coming days. */
const minMeasuredSeconds = 60 * 60;
const minDeadRows = 10_000;

interface Retention {
  readonly retentionSeconds: number;
  readonly retentionBytes: number;
}

/** Checks the growth of the change log, on a primary. */
export async function checkLogGrowth(
  db: Database,
  { retentionSeconds = defaultRetention.seconds, retentionBytes = defaultRetention.bytes }: Config,
): Promise<Finding[]> {
  const [growth] = await db.query<LogGrowth>({ text: growthSql });
  return judgeLogGrowth(growth!, { retentionSeconds, retentionBytes });
}

function judgeLogGrowth(growth: LogGrowth, { retentionSeconds, retentionBytes }: Retention): Finding[] {
  const { sinceHeartbeat, dayBytes, daySeconds, diskBytes, live, dead, isVacuumed } = growth;
  const findings: Finding[] = [];
  const subject = 'tidemark.change';
  if (sinceHeartbeat !== null && sinceHeartbeat > maxSilentSeconds) {
    const what = `No server has cleared the change log for ${hours(sinceHeartbeat)}.`;
    const advice = 'Run at least one server on the primary, and look for warnings in its log.';
    findings.push(finding('no-server', { what, advice }));
  }
  const perHour = (dayBytes / daySeconds) * 3600;
  const reach = (retentionBytes / perHour) * 3600;
  if (daySeconds >= minMeasuredSeconds && reach < retentionSeconds) {
    const what = `The change log grows by ${megabytes(perHour)} an hour: the ${megabytes(retentionBytes)} of \`retentionBytes\` reach back ${hours(reach)}, and \`retentionSeconds\` asks for ${hours(retentionSeconds)}.`;
    const advice =
      'If the disk has room, raise `retentionBytes`; otherwise, lower `retentionSeconds` to what can be kept.';
    findings.push(finding('short-reach', { subject, what, advice }));
  }
  if (diskBytes > 2 * retentionBytes) {
    const what = `The change log takes ${megabytes(diskBytes)} on the disk, more than twice its \`retentionBytes\`.`;
    const advice =
      'Find out first what keeps changes from being deleted. VACUUM FULL gives the space back; pulls and writers wait for it.';
    findings.push(finding('log-over-limit', { subject, what, advice, sql: 'vacuum full tidemark.change' }));
  }
  if (dead > Math.max(minDeadRows, live)) {
    const what = `The change log has ${dead} dead rows, and ${live} live ones: autovacuum is far behind.`;
    const advice = 'Vacuum it now, and have autovacuum do so sooner.';
    const sql = 'vacuum tidemark.change; alter table tidemark.change set (autovacuum_vacuum_scale_factor = 0.01)';
    findings.push(finding('vacuum-behind', { subject, what, advice, sql }));
  }
  if (!isVacuumed) {
    const sql = 'alter table tidemark.change reset (autovacuum_enabled)';
    const what = 'Autovacuum is off for the change log.';
    findings.push(finding('autovacuum-off', { subject, what, advice: 'Turn it on.', sql }));
  }
  return findings;
}

function hours(seconds: number): string {
  return `${(seconds / 3600).toFixed(1)} hours`;
}

function megabytes(bytes: number): string {
  return `${(bytes / 1024 ** 2).toFixed(1)} MB`;
}
