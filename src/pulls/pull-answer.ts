/** The successful responses to pulls. */
import type { JSONAnswer } from '../http/answer.js';
import { type Audit, encodeAudit } from '../protocol/audit.js';
import { type Cookie, type CookieFields, nextOrder, orderOf } from '../protocol/cookie.js';
import { type PullRequest, unchangedText } from '../protocol/pull.js';
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
  return { kind: 'json', text: unchangedText(cookie) };
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
 * @param onOps called with the number of ops when they have been sent
 */
export function answerOf(
  opening: string,
  held: readonly Uint8Array[],
  more: PatchStream | undefined,
  onOps: (ops: number) => void,
): JSONAnswer {
  const isWhole = !more && held.reduce((sum, { length }) => sum + length, 0) <= wholeBytes;
  if (!isWhole) return { kind: 'json in pieces', pieces: pieces(opening, held, more, onOps) };
  onOps(held.reduce((sum, bytes) => sum + countLines(bytes), 0));
  return { kind: 'json', text: `${opening}${Buffer.concat(held).toString()}${closing}` };
}

async function* pieces(
  opening: string,
  held: readonly Uint8Array[],
  more: PatchStream | undefined,
  onOps: (ops: number) => void,
): AsyncGenerator<Uint8Array> {
  let ops = 0;
  let start = Buffer.from(opening);
  try {
    for await (const bytes of all(held, more)) {
      ops += countLines(bytes);
      yield start.length > 0 ? Buffer.concat([start, bytes]) : bytes;
      start = Buffer.alloc(0);
    }
    yield Buffer.concat([start, Buffer.from(closing)]);
  } finally {
    onOps(ops);
    await more?.close();
  }
}

async function* all(held: readonly Uint8Array[], more: PatchStream | undefined): AsyncGenerator<Uint8Array> {
  yield* held;
  if (more) yield* { [Symbol.asyncIterator]: () => more.ops };
}

const newline = 0x0a;

/** Each op is on a line of its own. */
function countLines(bytes: Uint8Array): number {
  let lines = 0;
  for (let at = bytes.indexOf(newline); at >= 0; at = bytes.indexOf(newline, at + 1)) lines++;
  return lines;
}
