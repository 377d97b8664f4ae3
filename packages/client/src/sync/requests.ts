import type { HTTPRequestInfo, PulledResult } from '#engine';
import { refusedClient } from '../client-error.js';
import type { Network } from './network.js';
import type { StatusTracker } from './status.js';

/** The network and the cookie mode of requests. */
export interface RequestOptions {
  readonly network: Network;
  readonly credentials: RequestCredentials | undefined;
}

/** The status of a request that the server, or a proxy in front of it, refuses as too large. */
export const tooLarge = 413;

/** The smallest part of a first answer that the status shows as progress, in bytes. */
const minProgressBytes = 65_536;

/** A request of the sync protocol. */
export interface SyncRequest {
  readonly kind: 'pull' | 'push';
  readonly url: string;
  /** The `Authorization`; empty for none. */
  readonly auth: string;
  readonly requestID: string;
  readonly body: object;
}

/**
 * Sends a request as the engine's own puller and pusher do.
 *
 * @param status receives the outcome, if given
 * @throws if there is no response
 */
export async function send(
  { kind, url, auth, requestID, body }: SyncRequest,
  { network, credentials }: RequestOptions,
  status?: StatusTracker,
): Promise<PulledResult> {
  // Then a pull brings all data.
  const isFirst = (body as { readonly cookie?: unknown }).cookie === null;
  const headers: Record<string, string> = {
    'Content-Type': 'application/json',
    'X-Replicache-RequestID': requestID,
    ...(auth && { Authorization: auth }),
  };
  try {
    const posted = network.post(url, { headers, body: JSON.stringify(body), credentials }, (bytes) => {
      if (isFirst && bytes > minProgressBytes) status?.progress({ bytes });
    });
    const { status: httpStatusCode, text } = await posted.finally(() => isFirst && status?.progress(null));
    if (httpStatusCode !== 200) {
      // `Pushes` splits a push that is too large.
      if (kind === 'pull' || httpStatusCode !== tooLarge) status?.refused(kind, url, httpStatusCode, text);
      return { httpRequestInfo: { httpStatusCode, errorMessage: text } };
    }
    const httpRequestInfo: HTTPRequestInfo = { httpStatusCode, errorMessage: '' };
    const answer = JSON.parse(text) as { readonly error?: unknown };
    if (answer.error) status?.failed(kind, refusedClient(answer));
    else status?.succeeded(kind);
    // The response to a push is an empty object, or an error that the engine handles.
    return kind === 'pull' || answer.error ? { response: answer, httpRequestInfo } : { httpRequestInfo };
  } catch (error) {
    if (network.isOpen) status?.lost(kind, url, error);
    throw error;
  }
}
