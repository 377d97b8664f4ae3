/** What the oracle has seen, and what it objects to. */
export interface Difference {
  readonly rule: string;
  readonly client: string;
  readonly detail: string;
}

export interface Counts {
  pulls: number;
  /** Answers with a new cookie by the way they came about. */
  deltas: number;
  resets: number;
  unchanged: number;
  forks: number;
  /** Deltas to clients in another role than before, some of whose views are others. */
  changedViews: number;
  /** Answers that came from a probe, or from a delta, that served several. */
  sharedProbes: number;
  sharedDeltas: number;
  ops: number;
  pushes: number;
  /** Pushes delivered twice at the same time. */
  doubled: number;
  mutations: number;
  /** Views compared with the oracle's. */
  views: number;
  /** How many times a server has compared what a client holds with its views. */
  audits: number;
  /** Moments of quiet at which the oracle itself was compared with the database. */
  quiet: number;
  /** Puts of what the client held already: allowed where a row has got a second reason to be there. */
  equalPuts: number;
}

/** Of nodes that ask standbys. */
export interface StandbyCounts {
  /** Answers with status 503, which a standby may give. */
  refused: number;
  /** Identical cookies, for whichever of the two reasons. */
  unchangedOrBehind: number;
  /** Cookies that say what a standby has seen behind a long transaction. */
  packed: number;
}

const kept = 20;

export class Report {
  readonly counts: Counts = {
    pulls: 0, deltas: 0, resets: 0, unchanged: 0, forks: 0, changedViews: 0, sharedProbes: 0, sharedDeltas: 0, ops: 0, pushes: 0, doubled: 0,
    mutations: 0, views: 0, audits: 0, quiet: 0, equalPuts: 0,
  }; // biome-ignore format: a row of zeros
  readonly ofStandbys: StandbyCounts = { refused: 0, unchangedOrBehind: 0, packed: 0 };
  /** How many times a client was told to come back later. */
  sentAway = 0;
  /** The first few. */
  readonly differences: Difference[] = [];
  differenceCount = 0;

  /** What the servers have logged about requests that failed, by request ID. */
  readonly causes = new Map<string, object>();

  object(rule: string, client: string, detail: string): void {
    this.differenceCount++;
    if (this.differences.length < kept) this.differences.push({ rule, client, detail });
  }
}

export function describeDifference({ rule, client, detail }: Difference): string {
  return `${rule} (client ${client})\n${detail.replace(/^/gm, '    ')}`;
}
