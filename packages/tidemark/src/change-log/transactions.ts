/** Transactions in the order of their IDs, each with a number of log rows. */
import type { Snapshot } from '../protocol/snapshot.js';

/** A transaction that a snapshot has not seen. */
export interface UnseenTransaction {
  readonly xid: bigint;
  readonly rows: number;
}

export class Transactions {
  readonly #list: UnseenTransaction[] = [];

  get size(): number {
    return this.#list.length;
  }

  /** Returns false if it has the transaction already. Most of those that end later also have a higher ID. */
  add(xid: bigint, rows: number): boolean {
    const at = this.#from(xid);
    if (this.#list[at]?.xid === xid) return false;
    this.#list.splice(at, 0, { xid, rows });
    return true;
  }

  /** Returns the transactions that the snapshot has not seen, in the order of their IDs. */
  since({ xmax, unseen }: Snapshot): UnseenTransaction[] {
    if (this.#list.length === 0) return [];
    const transactions: UnseenTransaction[] = [];
    for (const [first, last] of unseen) {
      for (let i = this.#from(first); i < this.#list.length && this.#list[i]!.xid <= last; i++) {
        transactions.push(this.#list[i]!);
      }
    }
    for (let i = this.#from(xmax); i < this.#list.length; i++) transactions.push(this.#list[i]!);
    return transactions;
  }

  /** Forgets the transactions below an ID. Returns their number. */
  forgetBelow(xid: bigint): number {
    return this.#list.splice(0, this.#from(xid)).length;
  }

  /** Returns the index of the first transaction whose ID is not below this one. */
  #from(xid: bigint): number {
    let low = 0;
    let high = this.#list.length;
    if (high === 0 || this.#list[high - 1]!.xid < xid) return high;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#list[middle]!.xid < xid) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
