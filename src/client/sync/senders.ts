/** The engine's puller and pusher: requests of our own, which tell the status what becomes of them. */
import type { PulledResult, Puller, Pusher, ReplicacheImpl } from '#engine';
import type { PendingMutation } from '../stores/types.js';
import { type Credentials, reauthenticateAfterMs } from './credentials.js';
import type { Outbox } from './outbox.js';
import { type RequestOptions, send, tooLarge } from './requests.js';
import type { StatusTracker } from './status.js';

/** The shortest wait before the engine sends a request again, in milliseconds. */
const minRetryMs = 30;

export interface SenderOptions extends RequestOptions {
  /** Says how a pushed mutation is called on the server. */
  readonly toServer: (mutation: PendingMutation) => PendingMutation;
}

/** What requests are made with. */
export interface Sender {
  readonly engine: Pick<ReplicacheImpl, 'pullURL' | 'pushURL' | 'requestOptions'>;
  readonly credentials: Credentials;
  readonly outbox: Outbox;
  readonly options: SenderOptions;
}

/** @param onPulled called after each pull that succeeds */
export function createPuller(
  { engine, credentials, options }: Sender,
  status?: StatusTracker,
  onPulled?: () => void,
): Puller {
  return async (request, requestID) => {
    const auth = await credentials.get();
    // With it, the server tells which mutations it has refused.
    const body = { ...request, refused: true };
    const pulled = await send({ kind: 'pull', url: engine.pullURL, auth, requestID, body }, options, status);
    if (pulled.response) onPulled?.();
    setRetryDelay(engine, pulled);
    return pulled;
  };
}

/** @param onEnd called after each push, whether or not it has succeeded */
export function createPusher(
  { engine, credentials, outbox, options }: Sender,
  status?: StatusTracker,
  onEnd?: () => void,
): Pusher {
  return async (request, requestID) => {
    const auth = await credentials.get();
    const { pushURL: url } = engine;
    const mutations = request.mutations.map((mutation) => ({ ...mutation, ...options.toServer(mutation) }));
    const sending = outbox.send(mutations, (batch) => {
      const body = { ...request, mutations: batch };
      return send({ kind: 'push', url, auth, requestID, body }, options, status);
    });
    const pushed = await sending.finally(onEnd);
    const { httpStatusCode, errorMessage } = pushed.httpRequestInfo;
    if (httpStatusCode === tooLarge) status?.refused('push', url, httpStatusCode, errorMessage);
    setRetryDelay(engine, pushed);
    return pushed;
  };
}

/** Until the credentials change, a request after a 401 would be refused, too: the engine tries again seldom. */
function setRetryDelay({ requestOptions }: Sender['engine'], { httpRequestInfo }: PulledResult): void {
  requestOptions.minDelayMs = httpRequestInfo.httpStatusCode === 401 ? reauthenticateAfterMs : minRetryMs;
}
