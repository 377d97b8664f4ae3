/** The audit log: who called which mutator, when, and with what outcome. */
import type { Database, Statement } from '../db/database.js';
import { type ProblemCode, SetupError } from '../errors.js';

/** The caller and the request. */
export interface CallOrigin {
  readonly userID: string;
  readonly requestID: string;
  /** The client that pushed the calls. Default: calls over REST. */
  readonly client?: { readonly clientGroupID: string; readonly clientID: string } | undefined;
}

/** An entry about one call. */
export interface AuditEntry {
  /** The mutator's name; null if no mutator has the name that was called. */
  readonly mutator: string | null;
  readonly outcome: 'applied' | ProblemCode;
  /** The number of the mutation among those of its client. Default: a call over REST. */
  readonly mutationID?: number | undefined;
}

const insertSql = `
  insert into tidemark.audit_log (user_id, request_id, client_group_id, client_id, mutator, outcome, mutation_id)
  select $1, $2, $3, $4, * from unnest($5::text[], $6::text[], $7::bigint[])`;

const pruneSql = `
  delete from tidemark.audit_log where ctid = any (array(
    select ctid from tidemark.audit_log where at < now() - make_interval(secs => $1) order by at limit $2
  )) returning 1`;

const mayWriteSql = `
  select to_regclass('tidemark.audit_log') is not null
    and has_table_privilege('tidemark.audit_log', 'insert') and has_table_privilege('tidemark.audit_log', 'delete')
    as "mayWrite"`;

const batchSize = 10_000;

/** Keeps entries for the retention time, or writes none if that is zero. */
export class AuditLog {
  readonly #retentionSeconds: number;

  constructor(retentionSeconds: number) {
    this.#retentionSeconds = retentionSeconds;
  }

  /** @throws SetupError if the database cannot store entries. */
  async check(db: Pick<Database, 'query'>): Promise<void> {
    if (this.#retentionSeconds === 0) return;
    const [row] = await db.query<{ mayWrite: boolean }>({ text: mayWriteSql });
    if (row!.mayWrite) return;
    throw new SetupError(
      "The audit log cannot be written: run tidemark migrate on this database, and grant the server's role what it needs.",
    );
  }

  /** Returns the statements that record entries, for the transaction that the entries describe. There may be none. */
  record({ userID, requestID, client }: CallOrigin, entries: readonly AuditEntry[]): readonly Statement[] {
    if (this.#retentionSeconds === 0) return [];
    const columns = [
      entries.map(({ mutator }) => mutator),
      entries.map(({ outcome }) => outcome),
      entries.map(({ mutationID }) => mutationID ?? null),
    ];
    const values = [userID, requestID, client?.clientGroupID ?? null, client?.clientID ?? null, ...columns];
    return [{ text: insertSql, values }];
  }

  /** Deletes the entries that are older than the retention. */
  async prune(db: Pick<Database, 'query'>): Promise<void> {
    if (this.#retentionSeconds === 0) return;
    for (;;) {
      const { length } = await db.query({ text: pruneSql, values: [this.#retentionSeconds, batchSize] });
      if (length < batchSize) return;
    }
  }
}

export const noAuditLog: AuditLog = new AuditLog(0);
