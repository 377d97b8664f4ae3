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

/** In place of the client group of those who read without one. No client's group has an empty ID. */
export const noGroup = '';

/** What a client sends to bring its client view up to date. */
export interface PullRequest extends Envelope {
  /** The cookie from the last pull, or any other value: it is checked later, and never causes an error. */
  readonly cookie: unknown;
  /** The requesting client, if the request names one. Clients of version 1 do not. */
  readonly client?: { readonly id: string; readonly lastMutationID: number } | undefined;
  /** Whether the client view includes the refused mutations of the user and profile. Default false. */
  readonly refused?: boolean | undefined;
}

/** The response that gives a client nothing new, as JSON text: the cookie it has sent, and an empty patch. */
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
  };
}

function decodeClient(id: unknown, lastMutationID: unknown): PullRequest['client'] {
  if (id === undefined && lastMutationID === undefined) return undefined;
  return { id: readID(id, 'clientID'), lastMutationID: readInteger(lastMutationID, 'lastMutationID', 0) };
}
