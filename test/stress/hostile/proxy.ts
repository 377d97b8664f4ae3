/** A proxy before a server that treats each request as instructed, to simulate the worst networks. */
import { once } from 'node:events';
import {
  createServer,
  request as forward,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** The treatment of a request. The first is that of any proxy. */
export type TreatmentKind =
  | 'pass'
  /** Waits before it forwards the request. */
  | 'delay'
  /** Never forwards it, and never responds. */
  | 'swallow request'
  /** Forwards it, and never responds. */
  | 'swallow response'
  /** Forwards it after the client has probably given up, and never responds. */
  | 'forward late'
  /** Forwards it twice at the same time, and responds once. */
  | 'repeat'
  /** Passes on half of the response's body, or the first part of a stream, and then nothing more. */
  | 'halve'
  /** Passes on the response in small parts, with a pause after each. */
  | 'trickle'
  /** Breaks the connection without forwarding the request. */
  | 'reset request'
  /** Forwards it, and breaks the connection instead of responding; a stream, after some time. */
  | 'reset response'
  /** Responds with 503 and `Retry-After`. */
  | 'unavailable'
  /** Responds with 413. */
  | 'too large'
  /** Responds with 401. */
  | 'unauthorized';

export interface Treatment {
  readonly kind: TreatmentKind;
  /** The length of the proxy's waits, in milliseconds. Each kind has a default. */
  readonly ms?: number;
}

export const pass: Treatment = { kind: 'pass' };

export interface ProxiedRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The size of its body. */
  readonly bytes: number;
}

export interface HostileProxy {
  /** Without a trailing slash. */
  readonly url: string;
  close(): void;
}

/**
 * Opens a proxy on its own port.
 * @param target the URL of the server
 * @param treat called for each request
 */
export async function openProxy(
  target: () => string,
  treat: (request: ProxiedRequest) => Treatment,
): Promise<HostileProxy> {
  const proxy: Server = createServer((request, response) => {
    handle(request, response, target(), treat).catch(() => response.destroy());
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    close() {
      proxy.close();
      proxy.closeAllConnections();
    },
  };
}

/** A request whose body has been read. */
interface Received {
  readonly message: IncomingMessage;
  readonly body: Buffer;
  readonly target: string;
}

async function handle(
  message: IncomingMessage,
  response: ServerResponse,
  target: string,
  treat: (request: ProxiedRequest) => Treatment,
): Promise<void> {
  const body = Buffer.concat(await message.toArray());
  const request = { message, body, target };
  const { kind, ms } = treat({ path: message.url!, headers: message.headers, bytes: body.length });
  switch (kind) {
    case 'pass':
      return pipe(await send(request, response), response);
    case 'delay':
      await sleep(ms ?? 500);
      return pipe(await send(request, response), response);
    case 'swallow request':
      return;
    case 'swallow response':
      return drain(await send(request, response));
    case 'forward late':
      await sleep(ms ?? 5_000);
      return drain(await send(request));
    case 'repeat': {
      const [first, second] = await Promise.all([send(request, response), send(request, response)]);
      drain(second);
      return pipe(first, response);
    }
    case 'halve':
      return halve(await send(request, response), response);
    case 'trickle':
      return trickle(await send(request, response), response, ms ?? 100);
    case 'reset request':
      return void message.socket.resetAndDestroy();
    case 'reset response': {
      const answer = await send(request, response);
      if (isStream(answer)) {
        pipe(answer, response);
        await sleep(ms ?? 1_000);
      } else {
        await answer.toArray();
      }
      return void message.socket.resetAndDestroy();
    }
    case 'unavailable':
      return void response.writeHead(503, { 'Retry-After': '1' }).end('<h1>503</h1>');
    case 'too large':
      return void response.writeHead(413).end('<h1>413</h1>');
    case 'unauthorized':
      return void response.writeHead(401).end('<h1>401</h1>');
  }
}

/**
 * Forwards a request, without compression, so that half of a response is half of a text.
 * @param response ends the forwarded request when its client disconnects
 */
async function send({ message, body, target }: Received, response?: ServerResponse): Promise<IncomingMessage> {
  const { 'accept-encoding': _, ...headers } = message.headers;
  const onward = forward(`${target}${message.url}`, { method: message.method, headers });
  response?.once('close', () => onward.destroy());
  onward.end(body);
  const [answer] = (await once(onward, 'response')) as [IncomingMessage];
  // The server stops, or the client has disconnected.
  answer.on('error', () => {});
  return answer;
}

function pipe(answer: IncomingMessage, response: ServerResponse): void {
  response.writeHead(answer.statusCode!, answer.headers);
  answer.once('error', () => response.destroy());
  answer.pipe(response);
}

function drain(answer: IncomingMessage): void {
  answer.resume();
}

async function halve(answer: IncomingMessage, response: ServerResponse): Promise<void> {
  response.writeHead(answer.statusCode!, answer.headers);
  if (isStream(answer)) {
    const [first] = await once(answer, 'data');
    response.write(first);
    return drain(answer);
  }
  const body = Buffer.concat(await answer.toArray());
  response.write(body.subarray(0, body.length / 2));
}

async function trickle(answer: IncomingMessage, response: ServerResponse, pauseMs: number): Promise<void> {
  response.writeHead(answer.statusCode!, answer.headers);
  const parts = 20;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    const size = Math.max(20, Math.ceil(chunk.length / parts));
    for (let start = 0; start < chunk.length && !response.destroyed; start += size) {
      response.write(chunk.subarray(start, start + size));
      await sleep(pauseMs);
    }
  }
  response.end();
}

function isStream({ headers }: IncomingMessage): boolean {
  return headers['content-type']?.startsWith('text/event-stream') ?? false;
}
