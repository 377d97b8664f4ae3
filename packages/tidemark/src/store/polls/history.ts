/** Reads the database's timelines from an observation. Pure. */
import type { History } from '../../protocol/history.js';

/** The result of `tidemark.history`. WAL positions are in bytes. */
export interface HistoryLine {
  readonly timelines: readonly (readonly [id: string, since: string | null])[];
  readonly current: string | null;
  readonly lsn: string;
}

export function readHistory({ timelines, current, lsn }: HistoryLine): History {
  return {
    timelines: timelines.map(([id, since]) => ({ id, since: since === null ? null : BigInt(since) })),
    current,
    lsn: BigInt(lsn),
  };
}
