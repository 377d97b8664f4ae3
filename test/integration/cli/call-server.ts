/** A server that responds to calls as a test specifies, and records the requests. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { catalogue, type ProblemCode } from '../../../packages/tidemark/src/errors.js';

export interface SentCall {
  readonly method: string | undefined;
  readonly path: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

type Respond = (response: ServerResponse, call: SentCall) => void;

export interface CallServer {
  readonly url: string;
  readonly calls: SentCall[];
  /** Responds to the next calls. Default: 200, with the body as the result. */
  respond: Respond;
  close(): Promise<void>;
}

export async function startCallServer(): Promise<CallServer> {
  const calls: SentCall[] = [];
  const server = createServer(async (request, response) => {
    const { method, url: path, headers } = request;
    const call = { method, path, headers, body: await text(request) };
    calls.push(call);
    started.respond(response, call);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const started: CallServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    respond: done,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return started;
}

/** Reports success, with the args as the result. */
export const done: Respond = (response, { body }) =>
  response
    .writeHead(200, { 'Content-Type': 'application/json' })
    .end(body === '' ? '{"ok":true}' : `{"ok":true,"result":${body}}`);

export function refuse(code: ProblemCode, detail: string, more: object = {}): Respond {
  const { status, title } = catalogue[code];
  const problem = {
    type: `urn:problem-type:tidemark:${code}`,
    title,
    status,
    detail,
    error: detail,
    code,
    requestID: 'r1',
  };
  const body = { ...problem, ...more };
  return (response) =>
    response.writeHead(body.status, { 'Content-Type': 'application/problem+json' }).end(JSON.stringify(body));
}
