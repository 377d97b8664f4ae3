/** The successful responses to pulls. */
import type { JSONAnswer } from '../http/answer.js';
import { type Audit, encodeAudit } from '../protocol/audit.js';
import { type Cookie, type CookieFields, nextOrder, orderOf } from '../protocol/cookie.js';
import type { PullRequest } from '../protocol/pull.js';
import { finishedTransactions } from '../protocol/snapshot.js';
import type { Header } from '../store/header.js';
import type { PatchStream } from './patch-stream.js';

/** What a new cookie says beside the header. */
export interface CookieParts {
  readonly epoch: string;
  readonly views: string;
  readonly audit: Audit | null;
}

/** A response with the identical cookie and an empty patch. */
export function unchangedAnswer({ cookie }: PullRequest): JSONAnswer {
  return { kind: 'json', text: JSON.stringify({ cookie, lastMutationIDChanges: {}, patch: [] }) };
}

/**
 * The start of a response: a new cookie and what goes with it, up to and including the bracket that opens the patch.
 */
export function openingOf(
  { clientGroupID, client, cookie }: PullRequest,
  header: Header,
  parts: CookieParts,
  seal: (fields: CookieFields) => Cookie,
): string {
  const { epoch, views } = parts;
  const audit = parts.audit && encodeAudit(parts.audit);
  const { snapshot, next, tick, mutations, lastMutationIDs } = header;
  const order = nextOrder(orderOf(cookie), finishedTransactions(snapshot));
  const fields = {
    order,
    snapshot: snapshot.text,
    next: String(next),
    epoch,
    views,
    clientGroupID,
    mutations,
    tick,
    audit,
  };
  // A client that the request names, but that the server does not know yet, is told that its lastMutationID is 0.
  const changes = { ...lastMutationIDs, ...(client && !header.clientKnown && { [client.id]: 0 }) };
  return `{"cookie":${JSON.stringify(seal(fields))},"lastMutationIDChanges":${JSON.stringify(changes)},"patch":[`;
}

const closing = ']}';

/** Up to this size, in bytes, a body is cheaper to send whole. Longer bodies share the bytes of their ops. */
const wholeBytes = 16 * 1024;

/**
 * A complete response.
 * @param more the ops after those that are held; it is closed when the body ends or breaks off
 */
export function answerOf(opening: string, held: readonly Uint8Array[], more?: PatchStream): JSONAnswer {
  const isWhole = !more && held.reduce((sum, { length }) => sum + length, 0) <= wholeBytes;
  if (!isWhole) return { kind: 'json in pieces', pieces: pieces(opening, held, more) };
  return { kind: 'json', text: `${opening}${Buffer.concat(held).toString()}${closing}` };
}

async function* pieces(
  opening: string,
  [first = Buffer.alloc(0), ...others]: readonly Uint8Array[],
  more?: PatchStream,
): AsyncGenerator<Uint8Array> {
  try {
    yield Buffer.concat([Buffer.from(opening), first]);
    yield* others;
    if (more) yield* { [Symbol.asyncIterator]: () => more.ops };
    yield Buffer.from(closing);
  } finally {
    await more?.close();
  }
}
