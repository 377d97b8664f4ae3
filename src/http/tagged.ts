import { createHash } from 'node:crypto';
import type { Reply } from './answer.js';

/** Content with an entity tag, so that it need not be sent again to clients that have it. */
export interface Tagged {
  readonly content: string | Uint8Array<ArrayBuffer>;
  /** The value of the `ETag` header. */
  readonly tag: string;
}

/** Derives the entity tag from the content: a truncated SHA-256 digest. */
export function tag(content: Tagged['content']): Tagged {
  return { content, tag: `"${createHash('sha256').update(content).digest('base64url').slice(0, 22)}"` };
}

/** Answers with the content, or with 304 if the request's `If-None-Match` has its tag. */
export function replyTagged(request: Request, { content, tag }: Tagged, headers: Reply['headers']): Reply {
  const tagged = { 'Cache-Control': 'no-cache', ...headers, ETag: tag };
  return isKnown(request.headers.get('If-None-Match'), tag)
    ? { kind: 'reply', status: 304, headers: tagged, body: null }
    : { kind: 'reply', headers: tagged, body: content };
}

/** Whether `If-None-Match` has the tag. A proxy that compresses may have made it a weak one. */
function isKnown(header: string | null, tag: string): boolean {
  const known = (header ?? '').split(',').map((item) => item.trim().replace(/^W\//, ''));
  return known.includes(tag) || known.includes('*');
}
