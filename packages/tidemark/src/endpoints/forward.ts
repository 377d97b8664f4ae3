import { Problem, type ProblemCode } from '../errors.js';
import type { RequestID } from '../http/route.js';
import { describeError, type Logger } from '../log.js';
import type { ProtocolError } from '../protocol/protocol-error.js';

/** A push as received. */
export interface RawPush {
  /** The exact bytes of the body. */
  readonly body: Uint8Array;
  readonly authorization: string | null;
  readonly requestID: RequestID;
}

/** The options of `forwardPush`. */
export interface ForwardOptions {
  /** The URL of the application's mutate endpoint. */
  readonly url: string;
  /** Sent as `X-Api-Key`. Default: none. */
  readonly apiKey?: string | undefined;
  /** Milliseconds within which the whole response must arrive. Default 30,000. */
  readonly timeoutMs?: number | undefined;
  /** Sends the requests. Default: the platform's `fetch`. */
  readonly fetch?: typeof fetch | undefined;
}

/** The maximum length of a response, in bytes. The protocol's own responses have fewer than a hundred. */
const maxAnswerBytes = 64 * 1024;
const maxLoggedLength = 2_048;

/** The statuses that are passed on, because they mean the same to the caller as to this server. */
const sameStatus: Readonly<Record<number, [code: ProblemCode, detail: string]>> = {
  400: ['malformed-request', 'The mutate endpoint rejected the push as malformed'],
  401: ['unauthenticated', 'The mutate endpoint rejected the authorization'],
  403: ['forbidden', "The mutate endpoint refused this user's push"],
  409: ['mutation-gap', 'The mutate endpoint is missing an earlier mutation'],
  413: ['body-too-large', 'The push is too large for the mutate endpoint'],
  415: ['unsupported-media-type', 'The mutate endpoint does not accept this content type'],
  429: ['too-many-requests', 'The mutate endpoint received too many requests'],
  503: ['unavailable', 'The mutate endpoint is temporarily unavailable'],
};

/**
 * Has the application's mutate endpoint apply a push. Of its response, the caller gets only protocol errors, the
 * statuses listed here and `Retry-After`.
 * @throws Problem with the endpoint's own status if the client can act on it: 400, 401, 403, 409, 413, 415, 429, 503;
 * otherwise `mutate-endpoint-failed` or `mutate-endpoint-timeout`.
 */
export async function forwardPush(
  options: ForwardOptions,
  rawPush: RawPush,
  log: Logger,
): Promise<ProtocolError | null> {
  const signal = AbortSignal.timeout(options.timeoutMs ?? 30_000);
  try {
    const response = await send(options, rawPush, signal);
    const text = await readText(response);
    if (response.status === 200) return decodeAnswer(text, log);
    throw refusal(response, text, log);
  } catch (error) {
    if (error instanceof Problem) throw error;
    throw signal.aborted
      ? new Problem('mutate-endpoint-timeout', 'The mutate endpoint did not answer in time', { cause: error })
      : new Problem('mutate-endpoint-failed', 'The mutate endpoint could not be reached', { cause: error });
  }
}

function send(options: ForwardOptions, push: RawPush, signal: AbortSignal): Promise<Response> {
  const headers = new Headers({ 'Content-Type': 'application/json', [push.requestID.header]: push.requestID.value });
  if (push.authorization !== null) headers.set('Authorization', push.authorization);
  if (options.apiKey !== undefined) headers.set('X-Api-Key', options.apiKey);
  // Following a redirect would send the authorization to its target.
  const init = {
    method: 'POST',
    headers,
    body: push.body as Uint8Array<ArrayBuffer>,
    redirect: 'manual',
    signal,
  } as const;
  return (options.fetch ?? fetch)(options.url, init);
}

async function readText(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  let length = 0;
  for await (const chunk of response.body ?? []) {
    length += chunk.byteLength;
    if (length > maxAnswerBytes) {
      throw new Problem('mutate-endpoint-failed', "The mutate endpoint's response is too large");
    }
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

function decodeAnswer(text: string, log: Logger): ProtocolError | null {
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch (error) {
    log.warn(
      { answer: text.slice(0, maxLoggedLength), error: describeError(error) },
      'The mutate endpoint sent invalid JSON',
    );
  }
  if (typeof answer !== 'object' || answer === null || Array.isArray(answer)) {
    throw new Problem('mutate-endpoint-failed', 'The mutate endpoint did not answer with a JSON object');
  }
  const { error, versionType } = answer as Record<string, unknown>;
  if (error === 'ClientStateNotFound') return { error };
  if (error !== 'VersionNotSupported') return null;
  const isKnownType = versionType === 'pull' || versionType === 'push' || versionType === 'schema';
  return isKnownType ? { error, versionType } : { error };
}

function refusal(response: Response, text: string, log: Logger): Problem {
  const { status } = response;
  log.warn({ status, answer: text.slice(0, maxLoggedLength) }, 'The mutate endpoint refused a push');
  const same = sameStatus[status];
  if (same === undefined) return new Problem('mutate-endpoint-failed', 'The mutate endpoint failed');
  const [code, detail] = same;
  return new Problem(code, detail, { headers: headersFor(status, response) });
}

function headersFor(status: number, response: Response): Record<string, string> {
  if (status === 401) return { 'WWW-Authenticate': 'Bearer' };
  if (status !== 429 && status !== 503) return {};
  const retryAfter = response.headers.get('Retry-After') ?? '';
  return { 'Retry-After': /^\d{1,6}$/.test(retryAfter) ? retryAfter : '1' };
}
