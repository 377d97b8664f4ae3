/** Checks regularly, for a sample of clients, that their data matches their views. */
import type { Database } from '../db/database.js';
import { describeError, type Logger } from '../log.js';
import { add, type Difference, differenceOf, noRows } from '../protocol/checksum.js';
import { type ConsistencyCheck, decodeConsistencyCheck, sampleOf } from '../protocol/consistency-check.js';
import type { Snapshot } from '../protocol/snapshot.js';
import type { ResolvedViews } from '../schema/schema-cache.js';
import { type Checksums, findRows, transactionsSince } from '../store/patches/checksums.js';
import type { ChecksumScope } from '../store/patches/patch-sql.js';
import type { ResolvedView } from '../view/client-views.js';

/** A sampled client's data is compared with the full views once in this many deltas. */
const deltasPerComparison = 5;
/** The maximum number of transactions in one log message. */
const maxTransactions = 20;

const repeatedKeys = 'Rows of a view share a key but differ; the client is reset. Make the key identify a row';

/** The results of a server's consistency checks since it started. */
export interface ConsistencyState {
  /** The number of times that a client's data was compared with its views. */
  readonly comparisons: number;
  /** The number of times that they differed. */
  readonly differences: number;
}

/** The check's state for the client's next cookie; or, for each view, the rows in which the client differs from it. */
export type CheckResult =
  | { readonly consistencyCheck: ConsistencyCheck }
  | { readonly differences: readonly (Difference | undefined)[] };

/** The differences of one client, with details for the log. */
export interface DifferenceDetails extends Pick<ResolvedViews, 'schema' | 'views'> {
  readonly differences: readonly (Difference | undefined)[];
  /** The last snapshot at which the client's data was correct. */
  readonly since: Snapshot;
  readonly snapshot: Snapshot;
  readonly log: Logger;
}

/** Checks sampled clients, and counts the results. */
export class ConsistencyChecker {
  readonly #db: Database;
  readonly #fraction: number;
  #comparisons = 0;
  #differences = 0;

  /** @param fraction the fraction of client groups to sample, from 0 to 1 */
  constructor(db: Database, fraction: number) {
    this.#db = db;
    this.#fraction = fraction;
  }

  state(): ConsistencyState {
    return { comparisons: this.#comparisons, differences: this.#differences };
  }

  /** True if a client group is sampled: its cookies contain checksums of the client's data. */
  samples(clientGroupID: string, secret: string): boolean {
    return this.#fraction > 0 && sampleOf(clientGroupID, secret) < this.#fraction;
  }

  /**
   * Decodes the consistency check of a cookie.
   * @param indexes if the views differ from the cookie's: each view's index in the cookie; undefined if it has none
   */
  decode(text: string, indexes?: readonly (number | undefined)[]): ConsistencyCheck | null {
    if (this.#fraction === 0) return null;
    const consistencyCheck = decodeConsistencyCheck(text);
    if (!indexes) return consistencyCheck;
    const { checksums } = consistencyCheck;
    return {
      ...consistencyCheck,
      checksums: indexes.map((index) => (index === undefined ? noRows : checksums[index]!)),
    };
  }

  /** @param checksums the checksums that came with a delta to this snapshot */
  next(consistencyCheck: ConsistencyCheck, checksums: Checksums, snapshot: Snapshot): CheckResult {
    const { whole } = checksums;
    const clientChecksums = consistencyCheck.checksums.map((checksum, i) => add(checksum, checksums.changes![i]!));
    if (!whole)
      return {
        consistencyCheck: { ...consistencyCheck, deltas: consistencyCheck.deltas + 1, checksums: clientChecksums },
      };
    this.#comparisons++;
    const differences = clientChecksums.map((checksum, i) => differenceOf(checksum, whole[i]!));
    if (differences.every((difference) => !difference)) {
      return { consistencyCheck: { deltas: 0, since: snapshot, checksums: whole } };
    }
    this.#differences++;
    return { differences };
  }

  /** Logs the differences for the operator. Never rejects. */
  async logDifferences({ differences, ...details }: DifferenceDetails): Promise<void> {
    for (const [i, difference] of differences.entries()) {
      if (difference) await this.#logDifference(details.views[i]!, difference, details);
    }
  }

  async #logDifference(
    resolvedView: ResolvedView,
    difference: Difference,
    details: Omit<DifferenceDetails, 'differences'>,
  ): Promise<void> {
    const { schema, since, snapshot, log } = details;
    const tables = schema.tables.filter(({ oid }) => resolvedView.view.occurrenceTables.includes(oid));
    const { surplus, missing, isWhole } = difference;
    const logFields = { view: resolvedView.view.name, since: since.text, snapshot: snapshot.text, isWhole };
    const message = "A client's data does not match its view; the client is reset";
    try {
      const rows = await findRows(this.#db, resolvedView, { tables, base: since }, [...surplus, ...missing]);
      const keysOf = (hashes: readonly number[]) => hashes.map((hash) => rows.keys.get(hash) ?? null);
      const transactions = await transactionsSince(this.#db, tables, since, maxTransactions);
      const fields = { ...logFields, surplus: keysOf(surplus), missing: keysOf(missing), transactions };
      const { repeatedKeys: repeated } = rows;
      if (repeated.length === 0 || resolvedView.view.choosesByKey) log.error(fields, message);
      else log.error({ ...fields, repeated }, repeatedKeys);
    } catch (error) {
      log.error(
        { ...logFields, surplus: surplus.length, missing: missing.length, error: describeError(error) },
        message,
      );
    }
  }
}

/** Returns which checksums must come with a sampled client's next delta. */
export function checksumModeFor(consistencyCheck: ConsistencyCheck): ChecksumScope {
  return consistencyCheck.deltas + 1 < deltasPerComparison ? 'changes' : 'whole';
}
