/** Requests of any kind, over real HTTP, and the properties that every response must have. */
import { connect } from 'node:net';
import { expect } from 'vitest';

export interface SentRequest {
  /** Default: POST. */
  readonly method?: string;
  /** Starts at the root. */
  readonly path: string;
  /** Added to the headers of a JSON request by ann. Undefined removes a header. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: string | Uint8Array<ArrayBuffer> | undefined;
}

export interface Received {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The parsed body; undefined if there is none. */
  readonly body: { readonly [field: string]: unknown } | undefined;
}

/** A request that takes longer hangs. */
const hangMs = 10_000;

/** A text that callers send to see whether it comes back in an error. */
export const marker = 'Xq7z';

const defaultHeaders = { Authorization: 'Bearer ann', 'Content-Type': 'application/json' };

export async function send(url: string, { method = 'POST', path, headers, body }: SentRequest): Promise<Received> {
  const sent = Object.entries({ ...defaultHeaders, ...headers }).filter(
    (header): header is [string, string] => header[1] !== undefined,
  );
  const response = await fetch(url + path, {
    method,
    headers: sent,
    // With these methods, `fetch` sends no body.
    ...(body !== undefined && !['GET', 'HEAD'].includes(method) && { body }),
    redirect: 'error',
    signal: AbortSignal.timeout(hangMs),
  });
  return received(response.status, response.headers, await response.text());
}

/** Sends bytes that `fetch` would not. They must request that the connection be closed. */
export async function sendBytes(url: string, bytes: Uint8Array): Promise<Received> {
  const { hostname, port } = new URL(url);
  const answer = await new Promise<Buffer>((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    socket.setTimeout(hangMs, () => socket.destroy(new Error('no answer, and no end of the connection')));
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.once('error', reject);
    socket.once('close', () => resolve(Buffer.concat(chunks)));
  });
  const text = answer.toString();
  const [head = '', ...rest] = text.split('\r\n\r\n');
  const [statusLine = '', ...lines] = head.split('\r\n');
  const headers = new Headers(lines.map((line) => line.split(/: ?(.*)/, 2) as [string, string]));
  return received(Number(statusLine.split(' ')[1]), headers, rest.join('\r\n\r\n'));
}

function received(status: number, headers: Headers, text: string): Received {
  const isJSON = /json/.test(headers.get('Content-Type') ?? '') && text !== '';
  return { status, headers, text, body: isJSON ? JSON.parse(text) : undefined };
}

/**
 * Checks that a response is not a 5xx, and that an error has the common format and repeats nothing but keys, in `path`.
 * @param secrets texts that were sent; those that the server's own words may contain are ignored
 */
export function expectSound({ status, headers, body, text }: Received, secrets: readonly string[] = []): void {
  expect(status, text).toBeLessThan(500);
  expect(status).toBeGreaterThanOrEqual(200);
  if (status < 400 || body === undefined) return;
  expect(headers.get('Content-Type')).toBe('application/problem+json');
  expect(body).toMatchObject({ status, code: expect.any(String), detail: expect.any(String), error: body.detail });
  const { requestID: _, issues = [], ...rest } = body;
  const messages = (issues as readonly { message: string }[]).map(({ message }) => message);
  const said = [JSON.stringify(rest), ...messages].join('\n');
  for (const secret of [marker, ...secrets.filter(isTelling)]) expect(said).not.toContain(secret);
}

/** False for short texts, and for these, because the server's own words contain them, too. */
function isTelling(secret: string): boolean {
  return secret.length > 5 && !['undefined', 'string', 'number', 'object', 'boolean'].includes(secret.toLowerCase());
}
