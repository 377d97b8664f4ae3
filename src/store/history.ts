/** What a report says of the database's timelines. Pure. */
import type { History } from '../protocol/history.js';

/** What `tidemark.history` returns. Positions are in bytes. */
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
