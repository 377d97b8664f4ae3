/** The kinds of findings of `tidemark doctor`. */

export type Severity = 'error' | 'warning' | 'info';

interface Kind {
  readonly severity: Severity;
  /** Why it matters, in whole sentences. */
  readonly why: string;
}

/** The codes are stable. */
export type FindingCode =
  | 'postgres-too-old'
  | 'postgres-untested'
  | 'not-migrated'
  | 'newer-schema'
  | 'not-captured'
  | 'view-refused'
  | 'view-compared'
  | 'missing-index'
  | 'not-analyzed'
  | 'missing-right'
  | 'superuser'
  | 'capture-as-superuser'
  | 'secret-readable'
  | 'horizon-held'
  | 'no-server'
  | 'short-reach'
  | 'log-over-limit'
  | 'vacuum-behind'
  | 'autovacuum-off'
  | 'fsync-off'
  | 'synchronous-commit-off'
  | 'replication-role'
  | 'read-only'
  | 'short-timeout'
  | 'few-connections'
  | 'standby';

/** Every kind of finding, by its code. `docs/operations/doctor.md` lists them. */
export const kinds: Readonly<Record<FindingCode, Kind>> = {
  'postgres-too-old': { severity: 'error', why: 'Tidemark uses what older versions lack.' },
  'postgres-untested': { severity: 'warning', why: 'Tidemark has not been tested on it.' },
  'not-migrated': { severity: 'error', why: 'Servers do not start, and pulls return 503.' },
  'newer-schema': { severity: 'error', why: 'An older version would lose changes, so its servers do not start.' },
  'not-captured': {
    severity: 'error',
    why: 'Clients would not learn of these changes, so pulls that read the table return 503.',
  },
  'view-refused': { severity: 'error', why: 'Servers do not start, and pulls of this view return 503.' },
  'view-compared': {
    severity: 'info',
    why: 'After each change of a row that it may depend on, the view is read in full for each client, now and as of its cookie.',
  },
  'missing-index': { severity: 'warning', why: 'This takes longer the larger the table becomes.' },
  'not-analyzed': { severity: 'info', why: 'Postgres cannot estimate its rows, so its plans may be poor.' },
  'missing-right': { severity: 'error', why: 'Pulls, pushes or the deletion of old changes fail.' },
  superuser: {
    severity: 'warning',
    why: 'Whoever gets hold of this connection has the whole cluster, and row-level security does not apply.',
  },
  'capture-as-superuser': {
    severity: 'warning',
    why: 'Capture runs with the rights of its owner, and the owner of a captured table chooses code that runs in it.',
  },
  'secret-readable': {
    severity: 'warning',
    why: 'Whoever reads this secret can forge cookies.',
  },
  'horizon-held': {
    severity: 'warning',
    why: 'Until it ends, old changes cannot be deleted, or the space of deleted ones cannot be used again.',
  },
  'no-server': {
    severity: 'warning',
    why: 'Only a server on the primary deletes old changes and writes the heartbeats by which servers recognize standbys and copies.',
  },
  'short-reach': { severity: 'warning', why: 'Clients that were away for longer are reset, and pull everything.' },
  'log-over-limit': { severity: 'warning', why: 'Deleted changes still take space on the disk.' },
  'vacuum-behind': { severity: 'warning', why: 'The change log grows on disk, and reading it becomes slower.' },
  'autovacuum-off': { severity: 'warning', why: 'The space of deleted changes is never used again.' },
  'fsync-off': {
    severity: 'error',
    why: 'A crash can damage the database, or undo commits that clients have seen; they would keep what was undone.',
  },
  'synchronous-commit-off': {
    severity: 'warning',
    why: 'A crash can undo commits that clients have seen; they would keep what was undone.',
  },
  'replication-role': { severity: 'warning', why: 'Foreign keys are not checked when mutators write.' },
  'read-only': { severity: 'error', why: 'Pushes fail, and old changes are not deleted.' },
  'short-timeout': {
    severity: 'warning',
    why: 'Mutators that take longer are cut off, and their pushes and calls return 503. Statements of Tidemark itself are exempt.',
  },
  'few-connections': {
    severity: 'warning',
    why: 'During a rolling restart, two servers are connected at once. Requests that get no connection return 503.',
  },
  standby: {
    severity: 'info',
    why: 'Sessions, vacuum and the growth of the log can be examined on the primary alone.',
  },
};

/** The details of a finding. */
interface Case {
  /** The table, view, role, session or setting concerned; null for the whole database. */
  readonly subject: string | null;
  /** The problem, in whole sentences. */
  readonly what: string;
  /** The remedy, in whole sentences. */
  readonly advice: string;
  /** SQL for the remedy, to be reviewed before it runs; null if there is none. */
  readonly sql: string | null;
}

/** A current or future problem, or useful information. Its fields are stable, because `--json` prints them. */
export interface Finding extends Case, Kind {
  readonly code: FindingCode;
}

/** Creates a finding. `subject` and `sql` are null by default. */
export function finding(code: FindingCode, details: Partial<Case> & Pick<Case, 'what' | 'advice'>): Finding {
  return {
    code,
    severity: kinds[code].severity,
    subject: null,
    ...details,
    why: kinds[code].why,
    sql: details.sql ?? null,
  };
}

/** Creates a finding from the message of a SetupError. Its first sentence is the problem, the others are the remedy. */
export function findingFromMessage(code: FindingCode, subject: string | null, message: string): Finding {
  const [what, advice = 'Correct what it names.'] = message.split(/(?<=\.) (.*)/s);
  return finding(code, { subject, what: what!, advice });
}
