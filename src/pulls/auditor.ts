/** Whether clients hold what their views show: looked at for a sample of them, now and then. */
import type { Database } from '../db/database.js';
import type { Bound } from '../installation/current-installation.js';
import { describeError, type Logger } from '../log.js';
import { type Audit, decodeAudit, sampleOf } from '../protocol/audit.js';
import { add, type Difference, differenceOf } from '../protocol/checksum.js';
import type { Snapshot } from '../protocol/snapshot.js';
import { type Checksums, findKeys, transactionsSince } from '../store/checksums.js';
import type { Checked } from '../store/patch-sql.js';
import type { BoundView } from '../view/client-views.js';

/** So many deltas of a sampled client come to one whose result is compared with the whole of its views. */
const deltasPerComparison = 5;
/** In one line of the log. */
const mostTransactions = 20;

/** What a server has found out since it started. */
export interface AuditState {
  /** How many times a client's data was compared with its views. */
  readonly compared: number;
  /** How many times they differed. */
  readonly differences: number;
}

/** What the next cookie says of a client; or in what rows of each view it differs from what the view shows. */
export type Audited = { readonly audit: Audit } | { readonly differences: readonly (Difference | undefined)[] };

/** Where a difference was found. */
export interface Finding extends Bound {
  readonly differences: readonly (Difference | undefined)[];
  /** When the client was last right. */
  readonly since: Snapshot;
  readonly snapshot: Snapshot;
  readonly log: Logger;
}

export class Auditor {
  readonly #db: Database;
  readonly #fraction: number;
  #compared = 0;
  #differences = 0;

  /** @param fraction how many of all client groups are sampled, from 0 to 1 */
  constructor(db: Database, fraction: number) {
    this.#db = db;
    this.#fraction = fraction;
  }

  state(): AuditState {
    return { compared: this.#compared, differences: this.#differences };
  }

  /** Whether the cookie that comes with all data is to say what the client then holds. */
  samples(clientGroupID: string, secret: string): boolean {
    return this.#fraction > 0 && sampleOf(clientGroupID, secret) < this.#fraction;
  }

  /** @param text a cookie's */
  auditOf(text: string | null): Audit | null {
    return text === null || this.#fraction === 0 ? null : decodeAudit(text);
  }

  /** @param checksums those of a delta of that snapshot */
  next(audit: Audit, checksums: Checksums, snapshot: Snapshot): Audited {
    const { whole } = checksums;
    const held = audit.checksums.map((checksum, i) => add(checksum, checksums.changes![i]!));
    if (!whole) return { audit: { ...audit, deltas: audit.deltas + 1, checksums: held } };
    this.#compared++;
    const differences = held.map((checksum, i) => differenceOf(checksum, whole[i]!));
    if (differences.every((difference) => !difference))
      return { audit: { deltas: 0, since: snapshot, checksums: whole } };
    this.#differences++;
    return { differences };
  }

  /** Logs what an operator needs to know. Never rejects. */
  async report({ differences, ...finding }: Finding): Promise<void> {
    for (const [i, difference] of differences.entries()) {
      if (difference) await this.#reportOne(finding.views[i]!, difference, finding);
    }
  }

  async #reportOne(bound: BoundView, difference: Difference, finding: Omit<Finding, 'differences'>): Promise<void> {
    const { installation, since, snapshot, log } = finding;
    const tables = installation.tables.filter(({ oid }) => bound.view.occurrenceTables.includes(oid));
    const { surplus, missing, isWhole } = difference;
    const known = { view: bound.view.name, since: since.text, snapshot: snapshot.text, isWhole };
    const message = 'A client does not hold what its view shows; it is reset';
    try {
      const keys = await findKeys(this.#db, bound, { tables, base: since }, [...surplus, ...missing]);
      const keysOf = (hashes: readonly number[]) => hashes.map((hash) => keys.get(hash) ?? null);
      const transactions = await transactionsSince(this.#db, tables, since, mostTransactions);
      log.error({ ...known, surplus: keysOf(surplus), missing: keysOf(missing), transactions }, message);
    } catch (error) {
      log.error({ ...known, surplus: surplus.length, missing: missing.length, error: describeError(error) }, message);
    }
  }
}

/** The checksums that a client's next delta is to come with. */
export function checkedFor(audit: Audit | null): Checked {
  if (!audit) return 'no';
  return audit.deltas + 1 < deltasPerComparison ? 'changes' : 'whole';
}
