/** The engine's puller and pusher, which send the client's own requests and report their results to the status. */
import type { PulledResult, Puller, Pusher, ReplicacheImpl } from '#engine';
import { toServer } from '../mutate.js';
import { type Answered, serverCookie } from '../wants/answered.js';
import { type Credentials, reauthenticateAfterMs } from './credentials.js';
import type { Outbox } from './outbox.js';
import { type RequestOptions, send, tooLarge } from './requests.js';
import type { StatusTracker } from './status.js';

/** The minimum delay before the engine retries a request, in milliseconds. */
const minRetryMs = 30;

/** The parts of a client that send its requests. */
export interface Sender {
  readonly engine: Pick<ReplicacheImpl, 'pullURL' | 'pushURL' | 'requestOptions'>;
  readonly credentials: Credentials;
  readonly outbox: Outbox;
  readonly options: RequestOptions;
}

/**
 * @param onPulled called after each pull that succeeds
 * @param answered names the wanted instances in requests; without it, the server answers with the views without arguments
 */
export function createPuller(
  { engine, credentials, options }: Sender,
  status?: StatusTracker,
  onPulled?: () => void,
  answered?: Answered,
): Puller {
  return async (request, requestID) => {
    const auth = await credentials.get();
    // Requests the mutations that the server has refused.
    const cookie = serverCookie(request.cookie);
    const body = { ...request, cookie, refused: true, ...answered?.ask() };
    const pulled = await send({ kind: 'pull', url: engine.pullURL, auth, requestID, body }, options, status);
    if (pulled.response) onPulled?.();
    setRetryDelay(engine, pulled);
    const response = answered ? await answered.receive(request.cookie, requestID, pulled.response) : pulled.response;
    return { ...pulled, response };
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
    const mutations = request.mutations.map((mutation) => ({ ...mutation, ...toServer(mutation) }));
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

/** Slows down the engine's retries after a 401, because requests fail until the credentials change. */
function setRetryDelay({ requestOptions }: Sender['engine'], { httpRequestInfo }: PulledResult): void {
  requestOptions.minDelayMs = httpRequestInfo.httpStatusCode === 401 ? reauthenticateAfterMs : minRetryMs;
}
