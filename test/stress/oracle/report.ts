/** Counts what the oracle has seen, and collects its objections. */
export interface Difference {
  readonly rule: string;
  readonly client: string;
  readonly detail: string;
}

export interface Counts {
  pulls: number;
  /** Responses with a new cookie, by kind. */
  deltas: number;
  resets: number;
  unchanged: number;
  forks: number;
  /** Deltas to clients in another role than before, in which some of their views differ. */
  changedViews: number;
  /** Responses from a poll, or from a delta, that served several clients. */
  sharedProbes: number;
  sharedDeltas: number;
  ops: number;
  pushes: number;
  /** Pushes delivered twice at the same time. */
  doubled: number;
  mutations: number;
  /** Views compared with the oracle's. */
  views: number;
  /** The number of consistency checks that the servers have performed. */
  consistencyChecks: number;
  /** Quiet times at which the oracle itself was compared with the database. */
  quiet: number;
  /** Puts of rows that the client already held. They are allowed if a row has a second reason to be in the view. */
  equalPuts: number;
}

/** Counts for nodes that read from standbys. */
export interface StandbyCounts {
  /** Responses with status 503, which a standby is allowed to give. */
  refused: number;
  /** Identical cookies, because nothing changed or because the standby is behind. */
  unchangedOrBehind: number;
  /** Cookies that list what a standby has seen behind a long transaction. */
  packed: number;
}

const maxDifferences = 20;

export class Report {
  readonly counts: Counts = {
    pulls: 0, deltas: 0, resets: 0, unchanged: 0, forks: 0, changedViews: 0, sharedProbes: 0, sharedDeltas: 0, ops: 0, pushes: 0, doubled: 0,
    mutations: 0, views: 0, consistencyChecks: 0, quiet: 0, equalPuts: 0,
  }; // biome-ignore format: a row of zeros
  readonly ofStandbys: StandbyCounts = { refused: 0, unchangedOrBehind: 0, packed: 0 };
  /** The number of responses that told a client to retry later. */
  deferrals = 0;
  /** The first few differences. */
  readonly differences: Difference[] = [];
  differenceCount = 0;

  /** The servers' log entries about failed requests, by request ID. */
  readonly causes = new Map<string, object>();

  object(rule: string, client: string, detail: string): void {
    this.differenceCount++;
    if (this.differences.length < maxDifferences) this.differences.push({ rule, client, detail });
  }
}

export function describeDifference({ rule, client, detail }: Difference): string {
  return `${rule} (client ${client})\n${detail.replace(/^/gm, '    ')}`;
}
