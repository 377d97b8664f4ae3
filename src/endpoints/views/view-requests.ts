/** What a request for a view, or for one of its rows, asks for. */

import { entityTagsIn, preferenceOf, preferredType } from '../../http/negotiation.js';
import type { Inputs } from '../../protocol/fields.js';
import { malformed, readInputs } from '../../protocol/fields.js';
import { isToken } from '../../protocol/read-token.js';
import type { ViewPart } from '../../view/client-views.js';

/** The media types in which views are read. */
export const mediaTypes = ['application/json', 'application/x-ndjson', 'text/event-stream'] as const;

export type ViewMediaType = (typeof mediaTypes)[number];

/** What a request asks for. */
export interface Asked extends Inputs {
  readonly part: ViewPart;
  readonly type: ViewMediaType;
  /** The token from which on ops are asked for; undefined if rows are. */
  readonly since: string | undefined;
  /** The rows that the caller has. */
  readonly known: Known;
  /** For how long the caller would wait until there is something new, in milliseconds. */
  readonly waitMs: number;
}

/** What `If-None-Match` says. */
export interface Known {
  /** The token of rows in the form that is asked for, and the entity tag that has it. */
  readonly token?: string | undefined;
  readonly tag?: string | undefined;
  /** Whether any rows will do. */
  readonly any: boolean;
}

/** The longest that a request is held, in seconds. */
const longestWait = 60;

/** What is added to a token to make an entity tag, for each form of rows: each must have tags of its own. */
const suffixes: Readonly<Record<ViewMediaType, string>> = {
  'application/json': '',
  'application/x-ndjson': '.lines',
  'text/event-stream': '',
};

/**
 * Reads what is asked for.
 * @param part what the path names
 * @param schemaVersions those that the application serves; all if undefined
 * @throws Problem `malformed-request`, naming the parameter
 */
export function readAsked({ url, headers }: Request, part: ViewPart, schemaVersions?: readonly string[]): Asked {
  const { searchParams: query } = new URL(url);
  const defaults = { profileID: '', schemaVersion: schemaVersions?.[0] ?? '' };
  const inputs = readInputs((name) => query.get(name) ?? defaults[name]);
  if (schemaVersions && !schemaVersions.includes(inputs.schemaVersion)) {
    throw malformed('schemaVersion', 'one that the application serves');
  }
  const type = preferredType(headers.get('Accept'), mediaTypes);
  // A reconnecting client sends what it began with, too.
  const resumed = type === 'text/event-stream' ? headers.get('Last-Event-ID') : null;
  const since = resumed ?? query.get('since');
  return {
    ...inputs,
    part,
    type,
    since: since === null ? undefined : tokenIn(since),
    known: knownBy(headers.get('If-None-Match'), suffixes[type]),
    waitMs: waitMsOf(headers),
  };
}

/**
 * The `ETag` of rows, if they have a token. Compressed rows have a weak tag, because their bytes depend on the compressor.
 */
export function entityTag(
  token: string | undefined,
  type: ViewMediaType,
  isCompressed: boolean,
): { readonly ETag?: string } {
  return token === undefined ? {} : { ETag: `${isCompressed ? 'W/' : ''}"${token}${suffixes[type]}"` };
}

/** A token may be given as the entity tag that it came in. */
function tokenIn(text: string): string {
  const [tag] = entityTagsIn(text);
  return (tag?.opaque ?? text).replace(/\..*$/s, '');
}

function knownBy(header: string | null, suffix: string): Known {
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
  return seconds > 0 ? 1000 * Math.min(seconds, longestWait) : 0;
}
