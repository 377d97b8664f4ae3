import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { Problem, SetupError } from '../../../packages/tidemark/src/errors.js';
import { defineMutator, defineMutators } from '../../../packages/tidemark/src/registry/mutators.js';
import { type CreateRestOptions, createRest } from '../../../packages/tidemark/src/rest.js';
import { memoryLog } from '../../support/log.js';
import { type Served, serve } from './served.js';

type Options = Partial<CreateRestOptions<{ userID: string }, object>>;

/** The REST surface alone, over transactions in which nothing is written. */
function setUp(options: Options = {}) {
  const { log, lines } = memoryLog();
  const rest = createRest<{ userID: string }, object>({
    mutators: defineMutators<object>({ note: { create: defineMutatorOf(z.object({ id: z.string() })) } }),
    transact: (work) => work({}),
    authenticate: (request) => (request.headers.get('Authorization') === 'secret' ? { userID: 'u' } : null),
    log,
    ...options,
  });
  const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    rest.fetch(new Request(`http://localhost${path}`, { headers, method }));
  return { rest, get, lines };
}

const defineMutatorOf = (validator: z.ZodType) => defineMutator(validator, () => {}) as never;

interface Described {
  readonly info: { readonly title: string };
  readonly servers: unknown;
  readonly paths: Record<string, { readonly post: { readonly parameters: readonly { readonly $ref: string }[] } }>;
  readonly components: { readonly securitySchemes: unknown };
}

async function documentOf(response: Response): Promise<Described> {
  expect([response.status, response.headers.get('Content-Type')]).toEqual([200, 'application/json']);
  return (await response.json()) as Described;
}

describe('the document', () => {
  it('describes the mutators, with the given info and security scheme', async () => {
    const info = { title: 'Notes', version: '2.0.0' };
    const securityScheme = { type: 'apiKey', in: 'header', name: 'Authorization' } as const;
    const document = await documentOf(await setUp({ info, securityScheme }).get('/api/openapi.json'));
    expect(document.info).toEqual(info);
    expect(Object.keys(document.paths)).toEqual(['/api/mutators/note/create', '/api/mutators']);
    expect(document.components.securitySchemes).toEqual({ auth: securityScheme });
    expect(document.servers).toEqual([{ url: '/' }]);
  });

  it('is not sent again to a client that has it', async () => {
    const { get } = setUp();
    const first = await get('/api/openapi.json');
    const tag = first.headers.get('ETag')!;
    expect(first.headers.get('Cache-Control')).toBe('no-cache');
    for (const header of [tag, `W/${tag}`, `"x", ${tag}`, '*']) {
      const again = await get('/api/openapi.json', { 'If-None-Match': header });
      expect([again.status, await again.text(), again.headers.get('ETag')]).toEqual([304, '', tag]);
    }
    expect((await get('/api/openapi.json', { 'If-None-Match': '"x"' })).status).toBe(200);
    // Another server of the same application returns the same tag.
    expect((await setUp().get('/api/openapi.json')).headers.get('ETag')).toBe(tag);
  });

  it('is served under the base path of the calls', async () => {
    const { get, rest } = setUp({ basePath: '/v1' });
    expect((await documentOf(await get('/v1/api/openapi.json'))).servers).toEqual([{ url: '/v1' }]);
    expect((await get('/v1/api/docs')).status).toBe(200);
    expect((await get('/api/openapi.json')).status).toBe(404);
    const call = new Request('http://localhost/v1/api/mutators/note/create', {
      method: 'POST',
      headers: { Authorization: 'secret', 'Content-Type': 'application/json' },
      body: '{"id":"a"}',
    });
    expect((await rest.fetch(call)).status).toBe(200);
  });

  it('logs one warning at the start about what it cannot describe', async () => {
    const mutators = defineMutators<object>({ note: { at: defineMutatorOf(z.object({ at: z.date() })) } });
    const { get, lines } = setUp({ mutators });
    await get('/api/openapi.json');
    await get('/api/openapi.json');
    const warnings = lines.filter(({ level }) => level === 'warn');
    expect(warnings).toHaveLength(1);
    expect(warnings[0]!.fields).toMatchObject({ warning: expect.stringContaining('note.at') });
  });

  it('causes an error if it cannot be created, and calls still work', async () => {
    const unspeakable = Object.defineProperty({ ...(defineMutatorOf(z.any()) as object) }, 'summary', {
      get() {
        throw new Error('unspeakable');
      },
    });
    const { rest, get, lines } = setUp({ mutators: new Map([['x', unspeakable as never]]) });
    expect((await get('/api/openapi.json')).status).toBe(500);
    expect((await get('/api/openapi.json')).status).toBe(500);
    expect(JSON.stringify(lines.filter(({ level }) => level === 'error'))).toContain('unspeakable');
    const call = new Request('http://localhost/api/mutators/x', {
      method: 'POST',
      headers: { Authorization: 'secret' },
    });
    expect((await rest.fetch(call)).status).toBe(200);
  });

  it('allows only GET and HEAD', async () => {
    const { get } = setUp();
    const response = await get('/api/openapi.json', {}, 'POST');
    expect([response.status, response.headers.get('Allow')]).toEqual([405, 'GET, HEAD']);
  });
});

describe('the path', () => {
  const paths = ['/api/openapi.json', '/api/docs', '/api/docs/docs-page.js'];

  it.each(paths)('%s is public', async (path) => {
    expect((await setUp().get(path)).status).toBe(200);
  });

  it.each(paths)('%s can be restricted to users', async (path) => {
    const { get } = setUp({ discovery: 'authenticated' });
    expect((await get(path)).status).toBe(401);
    expect((await get(path, { Authorization: 'secret' })).status).toBe(200);
  });

  it.each(paths)('%s can be switched off', async (path) => {
    expect((await setUp({ discovery: 'off' }).get(path)).status).toBe(404);
  });
});

describe('without storage for idempotency keys', () => {
  it('a call with a key is refused, and the document mentions none', async () => {
    const { rest, get } = setUp();
    const call = new Request('http://localhost/api/mutators/note/create', {
      method: 'POST',
      headers: { Authorization: 'secret', 'Content-Type': 'application/json', 'Idempotency-Key': 'k' },
      body: '{"id":"a"}',
    });
    const response = await rest.fetch(call);
    expect(await response.json()).toMatchObject({ status: 400, error: 'Idempotency-Key is not supported here' });
    expect(JSON.stringify(await documentOf(await get('/api/openapi.json')))).not.toContain('Idempotency-Key');
  });
});

it('authenticate can refuse a header caller by throwing a problem', async () => {
  const authenticate = () => {
    throw new Problem('forbidden', 'This token may only read');
  };
  const { rest } = setUp({ authenticate });
  const response = await rest.fetch(new Request('http://localhost/api/mutators/note/create', { method: 'POST' }));
  expect(await response.json()).toMatchObject({ status: 403, code: 'forbidden', error: 'This token may only read' });
});

describe('createSync', () => {
  let served: Served | undefined;
  afterEach(() => served?.close());

  it('serves the document of its mutators, including idempotency keys', async () => {
    served = await serve();
    const document = await documentOf(await served.send('/api/openapi.json'));
    expect(Object.keys(document.paths)).toContain('/api/mutators/note/create');
    expect(JSON.stringify(document)).toContain('Idempotency-Key');
  });

  it('serves no REST if that is switched off', async () => {
    served = await serve({ rest: false });
    for (const path of ['/api/openapi.json', '/api/docs']) expect((await served.send(path)).status).toBe(404);
    expect((await served.call('/note/count')).status).toBe(404);
  });

  it('accepts validators apart from the mutators, also for pushes', async () => {
    served = await serve({ validators: { hook: z.object({ n: z.number() }) } });
    expect((await served.call('/hook', { n: 'x' })).status).toBe(422);
    expect((await served.call('/hook', { n: 1 })).status).toBe(200);
    let ran = 0;
    served.hooks.onHook = () => void ran++;
    const push = {
      pushVersion: 1, profileID: 'p', clientGroupID: 'g', schemaVersion: '',
      mutations: [{ id: 1, clientID: 'c', timestamp: 0, name: 'hook', args: { n: 'x' } }],
    }; // biome-ignore format: short
    const response = await served.send('/sync/push', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(push),
    });
    expect([response.status, ran]).toEqual([200, 0]);
  });
});

describe('validators apart from a registry', () => {
  const create = (validators: CreateRestOptions<{ userID: string }, object>['validators']) => () =>
    setUp({ validators: validators! });

  it.each([
    ['they have no mutator', { note: { remove: z.string() } }, 'the validator "note.remove" has no mutator.'],
    ['their mutator has its own', { 'note.create': z.string() }, '"note.create" already has its own validator'],
    [
      'they are not Standard Schemas',
      { note: { create: 'string' } } as never,
      'the validator "note.create" is not a Standard Schema',
    ],
  ])('are refused at the start if %s', (_, validators, message) => {
    expect(create(validators)).toThrow(SetupError);
    expect(create(validators)).toThrow(message);
  });
});
