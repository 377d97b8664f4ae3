import { randomUUID } from 'node:crypto';

/** The headers in which a sync client may send its request ID, in order of precedence. */
const headerNames = ['X-Sync-RequestID', 'X-Replicache-RequestID'] as const;

const MAX_LENGTH = 200;

/** The ID of a request. */
export interface RequestID {
  /** At most 200 printable ASCII characters. Only for finding log lines: a client may use the same one again. */
  readonly value: string;
  /** The header that it came in; for a new one, the preferred header. */
  readonly header: (typeof headerNames)[number];
}

/** The request ID that the client sent, without unprintable characters; a new one if nothing is left. */
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
