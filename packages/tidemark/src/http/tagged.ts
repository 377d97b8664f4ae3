import { createHash } from 'node:crypto';
import type { Reply } from './answer.js';

/** Content with an entity tag, so that clients that have it need not receive it again. */
export interface TaggedContent {
  readonly content: string | Uint8Array<ArrayBuffer>;
  /** The value of the `ETag` header. */
  readonly tag: string;
}

/** Derives the entity tag from the content: a truncated SHA-256 digest. */
export function tag(content: TaggedContent['content']): TaggedContent {
  return { content, tag: `"${createHash('sha256').update(content).digest('base64url').slice(0, 22)}"` };
}

/** Answers with the content, or with 304 if the request's `If-None-Match` has its tag. */
export function replyTagged(request: Request, { content, tag }: TaggedContent, headers: Reply['headers']): Reply {
  const allHeaders = { 'Cache-Control': 'no-cache', ...headers, ETag: tag };
  return matchesTag(request.headers.get('If-None-Match'), tag)
    ? { kind: 'reply', status: 304, headers: allHeaders, body: null }
    : { kind: 'reply', headers: allHeaders, body: content };
}

/** True if `If-None-Match` has the tag. A proxy that compresses may have made the tag weak. */
function matchesTag(header: string | null, tag: string): boolean {
  const tags = (header ?? '').split(',').map((item) => item.trim().replace(/^W\//, ''));
  return tags.includes(tag) || tags.includes('*');
}
