/** The journal: who called which mutator, when, and what became of it. */
import type { Database, Statement } from '../db/database.js';
import { type ProblemCode, SetupError } from '../errors.js';

/** Whose calls these are. */
export interface Origin {
  readonly userID: string;
  readonly requestID: string;
  /** Who has sent them in a push. Default: calls over REST. */
  readonly client?: { readonly clientGroupID: string; readonly clientID: string } | undefined;
}

/** What the journal says of a call. */
export interface Entry {
  /** The mutator's name; null if there is no mutator of the name that was called. */
  readonly mutator: string | null;
  readonly outcome: 'applied' | ProblemCode;
  /** The mutation's number among its client's. Default: a call over REST. */
  readonly mutationID?: number | undefined;
}

const keepSql = `
  insert into tidemark.journal (user_id, request_id, client_group_id, client_id, mutator, outcome, mutation_id)
  select $1, $2, $3, $4, * from unnest($5::text[], $6::text[], $7::bigint[])`;

const pruneSql = `
  delete from tidemark.journal where ctid = any (array(
    select ctid from tidemark.journal where at < now() - make_interval(secs => $1) order by at limit $2
  )) returning 1`;

const mayKeepSql = `
  select to_regclass('tidemark.journal') is not null
    and has_table_privilege('tidemark.journal', 'insert') and has_table_privilege('tidemark.journal', 'delete')
    as "mayKeep"`;

const batch = 10_000;

/** Keeps entries for a time; or none, if that time is zero. */
export class Journal {
  readonly #retentionSeconds: number;

  constructor(retentionSeconds: number) {
    this.#retentionSeconds = retentionSeconds;
  }

  /** @throws SetupError if the database cannot keep entries. */
  async check(db: Pick<Database, 'query'>): Promise<void> {
    if (this.#retentionSeconds === 0) return;
    const [row] = await db.query<{ mayKeep: boolean }>({ text: mayKeepSql });
    if (row!.mayKeep) return;
    throw new SetupError(
      "The journal cannot be kept: run tidemark migrate on this database, and grant the server's role what it needs.",
    );
  }

  /** The statements that keep entries, for the transaction that they are about. There may be none. */
  keep({ userID, requestID, client }: Origin, entries: readonly Entry[]): readonly Statement[] {
    if (this.#retentionSeconds === 0) return [];
    const columns = [
      entries.map(({ mutator }) => mutator),
      entries.map(({ outcome }) => outcome),
      entries.map(({ mutationID }) => mutationID ?? null),
    ];
    const values = [userID, requestID, client?.clientGroupID ?? null, client?.clientID ?? null, ...columns];
    return [{ text: keepSql, values }];
  }

  /** Deletes the entries that have been kept for long enough. */
  async prune(db: Pick<Database, 'query'>): Promise<void> {
    if (this.#retentionSeconds === 0) return;
    for (;;) {
      const { length } = await db.query({ text: pruneSql, values: [this.#retentionSeconds, batch] });
      if (length < batch) return;
    }
  }
}

export const noJournal: Journal = new Journal(0);
