/** Postgres snapshots, read independently of the code under test. */
import { inflateRawSync } from 'node:zlib';

export class SeenTransactions {
  readonly text: string;
  readonly xmax: bigint;
  /**
   * The transactions below xmax that had not finished. In a standby's cookie, also transactions that have written
   * nothing visible.
   */
  readonly #running: ReadonlySet<bigint>;

  constructor(text: string) {
    const [xmin, xmax, running] = text.split(':');
    this.text = text;
    this.xmax = BigInt(xmax!);
    this.#running = new Set(running!.startsWith('~') ? unpack(BigInt(xmin!), running!.slice(1)) : split(running!));
  }

  /** True if the transaction had finished. */
  sees(xid: bigint): boolean {
    return xid < this.xmax && !this.#running.has(xid);
  }

  get running(): bigint[] {
    return [...this.#running];
  }

  /** A snapshot of everything that either of the two sees. */
  and(other: SeenTransactions): SeenTransactions {
    const [low, high] = [this, other].sort((a, b) => (a.xmax < b.xmax ? -1 : 1)) as [
      SeenTransactions,
      SeenTransactions,
    ];
    const running = [...low.running, ...high.running].filter((xid) => !low.sees(xid) && !high.sees(xid));
    return new SeenTransactions(`0:${high.xmax}:${running.join()}`);
  }

  /** A snapshot of only what both of them see. */
  common(other: SeenTransactions): SeenTransactions {
    const [{ xmax }] = [this, other].sort((a, b) => (a.xmax < b.xmax ? -1 : 1)) as [SeenTransactions, SeenTransactions];
    const running = new Set([...this.running, ...other.running].filter((xid) => xid < xmax));
    return new SeenTransactions(`0:${xmax}:${[...running].join()}`);
  }

  /** True if this one sees everything that the other snapshot sees. */
  covers(other: SeenTransactions): boolean {
    return this.xmax >= other.xmax && this.running.every((xid) => !other.sees(xid));
  }
}

function split(text: string): bigint[] {
  return text === '' ? [] : text.split(',').map(BigInt);
}

/** Unpacks alternating numbers of finished and running transactions, from xmin up. */
function unpack(xmin: bigint, packed: string): bigint[] {
  const lengths = inflateRawSync(Buffer.from(packed, 'base64url')).toString().split(',').map(Number);
  const isRunning = lengths.flatMap((length, i) => new Array<boolean>(length).fill(i % 2 === 1));
  return isRunning.flatMap((running, i) => (running ? [xmin + BigInt(i)] : []));
}
