import { randomUUID } from 'node:crypto';
import type { RequestID } from './route.js';

/** The headers in which a sync client can send its request ID, in order of precedence. */
const headerNames = ['X-Sync-RequestID', 'X-Replicache-RequestID'] as const;

const maxLength = 200;

/** Returns the request ID that the client sent, without unprintable characters; a new one if nothing is left. */
export function requestIDOf(headers: Headers): RequestID {
  for (const header of headerNames) {
    const value = headers
      .get(header)
      ?.replace(/[^\x20-\x7e]/g, '')
      .trim()
      .slice(0, maxLength)
      .trimEnd();
    if (value) return { value, header };
  }
  return { value: randomUUID(), header: headerNames[0] };
}
