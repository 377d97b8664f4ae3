import { randomUUID } from 'node:crypto';

/** The header names under which a sync client may send its request ID, in the order in which they are looked for. */
const headerNames = ['X-Sync-RequestID', 'X-Replicache-RequestID'] as const;

const MAX_LENGTH = 200;

export interface RequestID {
  /** At most 200 printable ASCII characters. For finding log lines only: a client may repeat it. */
  readonly value: string;
  /** The header it came in, or would have come in. */
  readonly header: (typeof headerNames)[number];
}

/** The request ID that the client sent, as far as it can be printed, or a new one. */
export function requestIDOf(headers: Headers): RequestID {
  for (const header of headerNames) {
    const value = headers
      .get(header)
      ?.replace(/[^\x20-\x7e]/g, '')
      .trim()
      .slice(0, MAX_LENGTH)
      .trimEnd();
    if (value) return { value, header };
  }
  return { value: randomUUID(), header: headerNames[0] };
}
