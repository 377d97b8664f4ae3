/** Postgres snapshots, read independently of the code under test. */
export class Seen {
  readonly text: string;
  readonly xmax: bigint;
  readonly #running: ReadonlySet<bigint>;

  constructor(text: string) {
    const [, xmax, running] = text.split(':');
    this.text = text;
    this.xmax = BigInt(xmax!);
    this.#running = new Set(running ? running.split(',').map(BigInt) : []);
  }

  /** The transaction had finished. */
  sees(xid: bigint): boolean {
    return xid < this.xmax && !this.#running.has(xid);
  }

  get running(): bigint[] {
    return [...this.#running];
  }

  /** Everything that the other snapshot sees, this one sees. */
  covers(other: Seen): boolean {
    return this.xmax >= other.xmax && this.running.every((xid) => !other.sees(xid));
  }

  /** This snapshot with one more transaction finished. */
  plus(xid: bigint): Seen {
    const xmax = xid >= this.xmax ? xid + 1n : this.xmax;
    const running = new Set(this.#running);
    for (let skipped = this.xmax; skipped < xmax; skipped++) running.add(skipped);
    running.delete(xid);
    return new Seen(`0:${xmax}:${[...running].join()}`);
  }
}
