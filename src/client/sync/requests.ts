import type { HTTPRequestInfo, PulledResult } from '#engine';
import { refusedClient } from '../client-error.js';
import type { Network } from './network.js';
import type { StatusTracker } from './status.js';

/** How requests reach the server, and who hears what became of them. */
export interface RequestOptions {
  readonly network: Network;
  readonly credentials: RequestCredentials | undefined;
}

/** The status of a request that the server, or a proxy before it, does not take for its size. */
export const tooLarge = 413;

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
 * @param status is told how it went, if given
 * @throws if there is no response
 */
export async function send(
  { kind, url, auth, requestID, body }: SyncRequest,
  { network, credentials }: RequestOptions,
  status?: StatusTracker,
): Promise<PulledResult> {
  const headers: Record<string, string> = {
    'Content-Type': 'application/json',
    'X-Replicache-RequestID': requestID,
    ...(auth && { Authorization: auth }),
  };
  try {
    const { status: httpStatusCode, text } = await network.post(url, {
      headers,
      body: JSON.stringify(body),
      credentials,
    });
    if (httpStatusCode !== 200) {
      // A push that is too large is sent in parts.
      if (kind === 'pull' || httpStatusCode !== tooLarge) status?.refused(kind, url, httpStatusCode, text);
      return { httpRequestInfo: { httpStatusCode, errorMessage: text } };
    }
    const httpRequestInfo: HTTPRequestInfo = { httpStatusCode, errorMessage: '' };
    const answer = JSON.parse(text) as { readonly error?: unknown };
    if (answer.error) status?.failed(kind, refusedClient(answer));
    else status?.succeeded(kind);
    // A push is answered with an empty object, or with an error that the engine knows.
    return kind === 'pull' || answer.error ? { response: answer, httpRequestInfo } : { httpRequestInfo };
  } catch (error) {
    if (network.isOpen) status?.lost(kind, url, error);
    throw error;
  }
}
