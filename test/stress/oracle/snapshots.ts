/** Postgres snapshots, read independently of the code under test. */
import { inflateRawSync } from 'node:zlib';

export class Seen {
  readonly text: string;
  readonly xmax: bigint;
  /**
   * Those below xmax that had not finished; in a standby's cookie, also such as have written nothing that could be
   * seen.
   */
  readonly #running: ReadonlySet<bigint>;

  constructor(text: string) {
    const [xmin, xmax, running] = text.split(':');
    this.text = text;
    this.xmax = BigInt(xmax!);
    this.#running = new Set(running!.startsWith('~') ? unpack(BigInt(xmin!), running!.slice(1)) : split(running!));
  }

  /** The transaction had finished. */
  sees(xid: bigint): boolean {
    return xid < this.xmax && !this.#running.has(xid);
  }

  get running(): bigint[] {
    return [...this.#running];
  }

  /** What sees all that either of the two sees. */
  and(other: Seen): Seen {
    const [low, high] = [this, other].sort((a, b) => (a.xmax < b.xmax ? -1 : 1)) as [Seen, Seen];
    const running = [...low.running, ...high.running].filter((xid) => !low.sees(xid) && !high.sees(xid));
    return new Seen(`0:${high.xmax}:${running.join()}`);
  }

  /** What sees only what both of the two see. */
  common(other: Seen): Seen {
    const [{ xmax }] = [this, other].sort((a, b) => (a.xmax < b.xmax ? -1 : 1)) as [Seen, Seen];
    const running = new Set([...this.running, ...other.running].filter((xid) => xid < xmax));
    return new Seen(`0:${xmax}:${[...running].join()}`);
  }

  /** Everything that the other snapshot sees, this one sees. */
  covers(other: Seen): boolean {
    return this.xmax >= other.xmax && this.running.every((xid) => !other.sees(xid));
  }
}

function split(text: string): bigint[] {
  return text === '' ? [] : text.split(',').map(BigInt);
}

/** How many have finished and how many have not, in turn, from xmin up. */
function unpack(xmin: bigint, packed: string): bigint[] {
  const lengths = inflateRawSync(Buffer.from(packed, 'base64url')).toString().split(',').map(Number);
  const isRunning = lengths.flatMap((length, i) => new Array<boolean>(length).fill(i % 2 === 1));
  return isRunning.flatMap((running, i) => (running ? [xmin + BigInt(i)] : []));
}
