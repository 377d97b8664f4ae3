/** Decodes requests for a view, or for one of its rows. */

import { Problem } from '../../errors.js';
import { entityTagsIn, preferenceOf, preferredType } from '../../http/negotiation.js';
import type { Inputs } from '../../protocol/fields.js';
import { malformed, readInputs } from '../../protocol/fields.js';
import { fromPathSegment } from '../../protocol/path-segment.js';
import { isToken } from '../../protocol/read-token.js';
import type { ViewPart } from '../../view/client-views.js';

/** The media types of views. */
export const mediaTypes = ['application/json', 'application/x-ndjson', 'text/event-stream'] as const;

export type ViewMediaType = (typeof mediaTypes)[number];

/** A request for a view, or for one of its rows. */
export interface ViewRequest extends Inputs {
  readonly part: ViewPart;
  readonly type: ViewMediaType;
  /** The token since which the caller requests ops; undefined if it requests rows. */
  readonly since: string | undefined;
  /** The rows that the caller already has. */
  readonly ifNoneMatch: IfNoneMatch;
  /** How long the caller is willing to wait for something new, in milliseconds. */
  readonly waitMs: number;
}

/** The contents of `If-None-Match`. */
export interface IfNoneMatch {
  /** The token of rows in the requested format, and the entity tag that contains it. */
  readonly token?: string | undefined;
  readonly tag?: string | undefined;
  /** True for `*`, which any rows match. */
  readonly any: boolean;
}

/** The maximum time that a request waits, in seconds. */
const maxWaitSeconds = 60;

/** The suffix of the token in an entity tag. Each format of rows must have its own tags. */
const suffixes: Readonly<Record<ViewMediaType, string>> = {
  'application/json': '',
  'application/x-ndjson': '.lines',
  'text/event-stream': '',
};

/** Returns the inputs of the views for a request that names none. */
export function defaultInputs(schemaVersions: readonly string[] | undefined): Inputs {
  return { profileID: '', schemaVersion: schemaVersions?.[0] ?? '' };
}

export function unknownView(): Problem {
  return new Problem('unknown-view', 'There is no view of this name');
}

/**
 * Returns the view, and perhaps the key, in the path after the prefix. Slashes in a key need not be percent-encoded.
 * @returns undefined if a segment cannot be decoded
 * @throws Problem `malformed-request` for an empty segment, because URL parsers also turn `todo/.` into `todo/`
 */
export function partIn(url: string, prefix: string): ViewPart | undefined {
  const segments = new URL(url).pathname.slice(prefix.length).split('/');
  if (segments.includes('')) {
    throw new Problem(
      'malformed-request',
      'The path has an empty segment. Write the keys "", "." and ".." as ~, ~. and ~.., and percent-encode the slashes of keys',
    );
  }
  const [name, ...keySegments] = segments;
  const [view, key] = [fromPathSegment(name!), fromPathSegment(keySegments.join('/'))];
  if (view === undefined) return undefined;
  if (keySegments.length === 0) return { view };
  return key === undefined ? undefined : { view, key };
}

/**
 * Decodes a request.
 * @param part the part that the path names
 * @param schemaVersions the versions that the application serves; all if undefined
 * @throws Problem `malformed-request`, naming the parameter
 */
export function readViewRequest(
  { url, headers }: Request,
  part: ViewPart,
  schemaVersions?: readonly string[],
): ViewRequest {
  const { searchParams: query } = new URL(url);
  const defaults = defaultInputs(schemaVersions);
  const inputs = readInputs((name) => query.get(name) ?? defaults[name]);
  if (schemaVersions && !schemaVersions.includes(inputs.schemaVersion)) {
    throw malformed('schemaVersion', 'one that the application serves');
  }
  const type = preferredType(headers.get('Accept'), mediaTypes);
  // A reconnecting client also sends the `since` that it began with.
  const lastEventID = type === 'text/event-stream' ? headers.get('Last-Event-ID') : null;
  const since = lastEventID ?? query.get('since');
  return {
    ...inputs,
    part,
    type,
    since: since === null ? undefined : tokenIn(since),
    ifNoneMatch: ifNoneMatchOf(headers.get('If-None-Match'), suffixes[type]),
    waitMs: waitMsOf(headers),
  };
}

/**
 * Returns the `ETag` of rows that have a token. Compressed rows have a weak tag: their bytes depend on the compressor.
 */
export function entityTag(
  token: string | undefined,
  type: ViewMediaType,
  isCompressed: boolean,
): { readonly ETag?: string } {
  return token === undefined ? {} : { ETag: `${isCompressed ? 'W/' : ''}"${token}${suffixes[type]}"` };
}

/** Returns the token in a text: an entity tag that contains it, or the token itself. */
function tokenIn(text: string): string {
  const [tag] = entityTagsIn(text);
  return (tag?.opaque ?? text).replace(/\..*$/s, '');
}

function ifNoneMatchOf(header: string | null, suffix: string): IfNoneMatch {
  const tags = entityTagsIn(header);
  const any = tags.some(({ opaque }) => opaque === '*');
  for (const { text, opaque } of tags) {
    const token = opaque.slice(0, opaque.length - suffix.length);
    if (opaque === token + suffix && isToken(token)) return { token, tag: text, any };
  }
  return { any };
}

function waitMsOf(headers: Headers): number {
  const seconds = Number(preferenceOf(headers, 'wait') || 0);
  return seconds > 0 ? 1000 * Math.min(seconds, maxWaitSeconds) : 0;
}
