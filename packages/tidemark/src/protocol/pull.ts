import {
  type Envelope,
  field,
  malformed,
  readEnvelope,
  readID,
  readInteger,
  readObject,
  readOptionalFlag,
} from './fields.js';
import type { VersionNotSupported } from './protocol-error.js';
import { decodeWants, type RequestedWant } from './wants.js';

/** The client group ID of reads, which have no client group. No client's group has an empty ID. */
export const noGroup = '';

/** A client's request to bring its client view up to date. */
export interface PullRequest extends Envelope {
  /** The cookie from the last pull, or any other value. It is checked later, and never causes an error. */
  readonly cookie: unknown;
  /** The requesting client, if the request names it. Clients of version 1 do not. */
  readonly client?: { readonly id: string; readonly lastMutationID: number } | undefined;
  /** True if the client view includes the refused mutations of the user and profile. Default false. */
  readonly refused?: boolean | undefined;
  /** The wanted instances of views with arguments: the same object if the same request is repeated. Default: none. */
  readonly wants?: readonly RequestedWant[] | undefined;
  /** True if a first sync may come in stages. Default false. */
  readonly stages?: boolean | undefined;
}

/** Returns the response to a client that lacks nothing, as JSON text: the cookie that it sent, and an empty patch. */
export function unchangedText(cookie: unknown): string {
  return JSON.stringify({ cookie, lastMutationIDChanges: {}, patch: [] });
}

/**
 * Decodes the JSON value of a pull request's body. Ignores unknown fields.
 * @throws Problem `malformed-request`, naming the field.
 */
export function decodePullRequest(body: unknown): PullRequest | VersionNotSupported {
  const request = readObject(body, 'The body');
  const pullVersion = field(request, 'pullVersion');
  if (typeof pullVersion !== 'number') throw malformed('pullVersion', 'a number');
  if (pullVersion !== 1) return { error: 'VersionNotSupported', versionType: 'pull' };
  const cookie = field(request, 'cookie');
  if (cookie === undefined) throw malformed('cookie', 'present; null on the first pull');
  const client = decodeClient(field(request, 'clientID'), field(request, 'lastMutationID'));
  return {
    ...readEnvelope((name) => field(request, name)),
    cookie,
    client,
    refused: readOptionalFlag(field(request, 'refused'), 'refused'),
    wants: decodeWants(field(request, 'wants')),
    stages: readOptionalFlag(field(request, 'stages'), 'stages'),
  };
}

function decodeClient(id: unknown, lastMutationID: unknown): PullRequest['client'] {
  if (id === undefined && lastMutationID === undefined) return undefined;
  return { id: readID(id, 'clientID'), lastMutationID: readInteger(lastMutationID, 'lastMutationID', 0) };
}
