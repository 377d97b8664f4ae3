/** The documentation page alone, behind a prefix, beside a document and calls that are made up. */
import { Hono } from 'hono';
import { createDocsPage, docsFiles } from '../../src/http/docs-page.js';
import { type Answer, type Exchange, respond } from '../../src/http/exchange.js';
import { type Listening, listen } from '../../src/node.js';
import { memoryLog } from '../log.js';
import { document } from './docs-document.js';

export interface Call {
  readonly authorization: string | null;
  readonly body: unknown;
}

export interface DocsServer extends Listening {
  /** What has been called, in order. */
  readonly calls: readonly Call[];
}

export async function startDocsServer(prefix: string): Promise<DocsServer> {
  const { log } = memoryLog();
  const calls: Call[] = [];
  const docs = createDocsPage(document.info.title);
  const app = new Hono();
  const get = (path: string, handler: (exchange: Exchange) => Promise<Answer>) =>
    app.get(prefix + path, ({ req, env }) => respond({ request: req.raw, path: req.path, env }, log, handler));
  get('/api/docs', () => docs.page());
  for (const name of docsFiles) get(`/api/docs/${name}`, (exchange) => docs.file(exchange, name));
  get('/api/openapi.json', async () => JSON.stringify(document));
  app.post(`${prefix}/api/mutators/todo/create`, async ({ req, json }) => {
    const authorization = req.header('Authorization') ?? null;
    const body: unknown = await req.json();
    calls.push({ authorization, body });
    if (authorization === null) return json({ code: 'unauthenticated', detail: 'Who are you?' }, 401);
    return json({ ok: true, result: { created: body } });
  });
  const service = {
    fetch: (request: Request, env?: unknown) => app.fetch(request, env as object),
    close: async () => {},
  };
  return { ...(await listen(service, { log, port: 0, hostname: '127.0.0.1', signals: false })), calls };
}
