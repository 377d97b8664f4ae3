/** The served application, over real HTTP. Requests are sent exactly as written, while `fetch` would normalize them. */
import { type IncomingHttpHeaders, request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { authenticate } from '../../../examples/tasks/src/auth.js';
import { mutators } from '../../../examples/tasks/src/mutators.js';
import { createSchema } from '../../../examples/tasks/src/schema.js';
import { views } from '../../../examples/tasks/src/views.js';
import { serveWeb } from '../../../examples/tasks/src/web.js';
import { migrate } from '../../../packages/tidemark/src/migrate.js';
import { type Listening, listen } from '../../../packages/tidemark/src/node.js';
import { createSync } from '../../../packages/tidemark/src/server.js';
import { exampleWeb } from '../../support/built.js';
import { createEmptyDatabase, type TestDatabase } from '../../support/database.js';
import { memoryLog, silent } from '../../support/log.js';

let database: TestDatabase;
let server: Listening;

beforeAll(async () => {
  database = await createEmptyDatabase();
  await createSchema(database.pool);
  await migrate({ database: database.pool, views, log: silent });
  const { log } = memoryLog();
  const sync = await createSync({ database: database.url, views, mutators, authenticate, log });
  const service = { ...sync, fetch: serveWeb(sync, exampleWeb) };
  server = await listen(service, { log, port: 0, hostname: '127.0.0.1', signals: false });
});
afterAll(async () => {
  await server.close();
  await database.drop();
});

interface Answer {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

function send(path: string, { method = 'GET', headers = {}, body = '' } = {}): Promise<Answer> {
  const { hostname, port } = new URL(server.url);
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, path, method, headers, agent: false }, async (response) => {
      let text = '';
      for await (const chunk of response.setEncoding('utf8')) text += chunk;
      resolve({ status: response.statusCode, headers: response.headers, body: text });
    });
    sent.on('error', reject).end(body);
  });
}

async function assets(): Promise<string[]> {
  const { body } = await send('/');
  return [...body.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path]) => path!);
}

describe.each(['/', '/?user=ann&list=l', '/side-by-side'])('the page at %s', (path) => {
  it('is HTML that browsers revalidate each time', async () => {
    const { status, headers, body } = await send(path);
    expect(status).toBe(200);
    expect(headers).toMatchObject({ 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-cache' });
    expect(body).toMatch(/^<!doctype html>/);
  });

  it('may load resources only from its own origin', async () => {
    const { headers, body } = await send(path);
    const policy = headers['content-security-policy'];
    expect(policy).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self';/);
    expect(policy).toMatch(/base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/);
    expect(policy).not.toMatch(/unsafe|http|\*/);
    expect(headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' });
    expect(body).not.toMatch(/<script(?![^>]* src=)|<style|\sstyle=|\son\w+=|\/\/|javascript:/);
  });
});

describe('the assets', () => {
  it('are cached indefinitely, and have the right media types', async () => {
    const types: Record<string, string> = {};
    for (const path of await assets()) {
      const { status, headers, body } = await send(path);
      expect(status).toBe(200);
      expect(path).toMatch(/^\/assets\/\w+-[\w-]{8}\.\w+$/);
      expect(headers).toMatchObject({
        'cache-control': 'public, max-age=31536000, immutable',
        'x-content-type-options': 'nosniff',
        'content-length': String(Buffer.byteLength(body)),
      });
      types[path.split('.')[1]!] = headers['content-type']!;
    }
    expect(types).toEqual({
      js: 'text/javascript; charset=utf-8',
      css: 'text/css; charset=utf-8',
      svg: 'image/svg+xml; charset=utf-8',
    });
  });

  it('contain nothing of the server but the names of its mutators and accounts', async () => {
    const bodies = await Promise.all((await assets()).map(async (path) => (await send(path)).body));
    const script = bodies.join('\n');
    for (const name of ['list.create', 'cam']) expect(script).toContain(name);
    for (const code of ['insert into', 'delete from', 'select id', 'no such list', 'Surrounding white space']) {
      expect(script).not.toContain(code);
    }
  });

  it('refer to no other server', async () => {
    for (const path of await assets()) {
      const { body } = await send(path);
      expect(body).not.toMatch(/@import|url\((?!data:)|sourceMappingURL|import\("http/);
    }
  });
});

it.each(['/', '/side-by-side'])('HEAD %s responds like GET, without a body', async (path) => {
  const get = await send(path);
  const head = await send(path, { method: 'HEAD' });
  expect(head).toMatchObject({ status: 200, body: '' });
  for (const name of ['content-type', 'content-length', 'cache-control', 'content-security-policy']) {
    expect(head.headers[name]).toBe(get.headers[name]);
  }
});

it.each([
  '/nothing',
  '/side-by-side/',
  '/index.html',
  '/assets/',
  '/assets/nothing.js',
  '/assets/favicon.svg',
  '/../package.json',
  '/assets/../../package.json',
  '/assets/../../../package.json',
  '/assets/%2e%2e/%2e%2e/package.json',
  '/assets/..%2f..%2fpackage.json',
  '/assets/..%5c..%5cpackage.json',
  '/assets/%252e%252e/index.html',
  '/assets/../index.html',
  '/assets/%00',
  '/assets/%',
  '//etc/passwd',
])('the path %s responds with 404', async (path) => {
  const { status, headers, body } = await send(path);
  expect(status).toBe(404);
  expect(headers).toMatchObject({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' });
  expect(body).toBe('There is nothing at this address.\n');
});

describe('the sync server behind the same address', () => {
  it('answers pulls', async () => {
    const body = { pullVersion: 1, clientGroupID: 'g', profileID: 'p', schemaVersion: '', cookie: null };
    const answer = await send('/sync/pull', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Authorization: 'Bearer ann' },
      body: JSON.stringify(body),
    });
    expect(answer.status).toBe(200);
    const { patch, lastMutationIDChanges } = JSON.parse(answer.body);
    expect({ patch, lastMutationIDChanges }).toEqual({ patch: [], lastMutationIDChanges: {} });
    expect(answer.headers).not.toHaveProperty('content-security-policy');
  });

  it('responds to all requests for its own paths', async () => {
    expect((await send('/sync/pull')).status).toBe(405);
    for (const path of ['/sync/nothing', '/api/nothing']) {
      expect((await send(path)).headers['content-type']).toMatch(/problem\+json/);
    }
    expect(JSON.parse((await send('/readyz')).body)).toMatchObject({ status: 'ok' });
    expect(await send('/healthz', { method: 'HEAD' })).toMatchObject({ status: 200, body: '' });
  });

  it('receives the second argument that the runtime passes to fetch', async () => {
    const env = { incoming: {} };
    const fetch = serveWeb({ fetch: async (_, passed) => Response.json(passed === env) }, exampleWeb);
    for (const path of ['/sync/pull', '/sync/poke', '/api/mutators/todo/create', '/api/docs', '/healthz']) {
      expect(await (await fetch(new Request(`http://localhost${path}`), env)).json()).toBe(true);
    }
  });
});
