import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { documentArgs, documentMutators } from '../../../../test/integration/openapi/schemas.js';
import { catalogue, Problem } from '../errors.js';
import { problemBody } from '../http/problem.js';
import type { Response } from './types.js';

const text = z.object({ text: z.string() });

describe('an operation', () => {
  it('has a path, an ID and a tag made from its name', async () => {
    const names = [
      'todo.create',
      'todo.item.create',
      'ping',
      'todoCreate',
      'batch',
      'a b.c/d?',
      '2fa.enable',
      '日本.語',
      '{x}',
    ];
    const { document } = await documentArgs(Object.fromEntries(names.map((name) => [name, text])));
    expect(Object.entries(document.paths).map(([path, { post }]) => [path, post!.operationId, ...post!.tags])).toEqual([
      ['/api/mutators/todo/create', 'todoCreate', 'todo'],
      ['/api/mutators/todo/item/create', 'todoItemCreate', 'todo.item'],
      ['/api/mutators/ping', 'ping', 'mutators'],
      ['/api/mutators/todoCreate', 'todoCreate2', 'mutators'],
      ['/api/mutators/batch', 'batch2', 'mutators'],
      ['/api/mutators/a%20b/c%2Fd%3F', 'aBCD', 'a b'],
      ['/api/mutators/2fa/enable', 'call2faEnable', '2fa'],
      ['/api/mutators/%E6%97%A5%E6%9C%AC/%E8%AA%9E', 'call', '日本'],
      ['/api/mutators/%7Bx%7D', 'x', 'mutators'],
      ['/api/mutators', 'batch', 'mutators'],
    ]);
    const tags = document.tags.map(({ name }) => name);
    expect(tags).toEqual(['todo', 'todo.item', 'a b', '2fa', '日本', 'mutators']);
  });

  it('is left out if a URL cannot contain its name', async () => {
    const { document, warnings } = await documentArgs({ 'a.\ud800': text, b: text });
    expect(Object.keys(document.paths)).toEqual(['/api/mutators/b', '/api/mutators']);
    expect(warnings).toEqual(['a.\ud800: left out, because a URL cannot contain its name']);
  });

  it("has the mutator's summary, description and deprecation", async () => {
    const { post } = await documentMutators({
      'todo.create': { validator: text, summary: 'Create', description: '*New*', deprecated: true },
      'todo.delete': { validator: text },
    });
    expect(post('/todo/create')).toMatchObject({ summary: 'Create', description: '*New*', deprecated: true });
    expect(post('/todo/delete')).toMatchObject({
      summary: 'Call todo.delete',
      description: 'Runs the mutator `todo.delete`.',
    });
    expect(post('/todo/delete')).not.toHaveProperty('deprecated');
  });

  it('has only examples that the mutator accepts', async () => {
    const examples = {
      'Any text': { text: 'a' },
      'any-text': { text: 'b' },
      日本: { text: 'c' },
      Wrong: { text: 1 },
      Huge: 1n,
      None: undefined,
    };
    const { post, warnings } = await documentMutators({ a: { validator: text, examples } });
    expect(post('/a').requestBody?.content['application/json']?.examples).toEqual({
      anyText: { summary: 'Any text', value: { text: 'a' } },
      anyText2: { summary: 'any-text', value: { text: 'b' } },
      example: { summary: '日本', value: { text: 'c' } },
    });
    expect(warnings).toEqual(
      ['Wrong', 'Huge', 'None'].map((name) => `a: its example "${name}" is left out: it is not accepted as JSON`),
    );
  });

  it('has the declared result in its response, if any', async () => {
    const { post } = await documentMutators({
      sure: { validator: text, result: z.number() },
      maybe: { validator: text, result: z.number().optional() },
      unknown: { validator: text },
    });
    const answer = (path: string) => (post(path).responses['200'] as Response).content!['application/json']?.schema;
    expect(answer('/sure')).toMatchObject({ required: ['ok', 'result'] });
    expect(answer('/maybe')).toMatchObject({ required: ['ok'] });
    expect(answer('/unknown')).toEqual({ $ref: '#/components/schemas/Answer' });
  });

  it('accepts an idempotency key only if keys are stored', async () => {
    const [keyed, plain] = await Promise.all(
      [true, false].map((idempotent) => documentArgs({ a: text }, { idempotent })),
    );
    expect(keyed!.post('/a').parameters).toHaveLength(2);
    expect(plain!.post('/a').parameters).toEqual([{ $ref: '#/components/parameters/Prefer' }]);
    expect(Object.keys(plain!.document.components.parameters)).toEqual(['Prefer']);
    const mentions = [keyed, plain].map((documented) => /idempoten/i.test(JSON.stringify(documented!.document)));
    expect(mentions).toEqual([true, false]);
  });
});

describe('the responses to failures', () => {
  it('match the error catalogue', async () => {
    const { document } = await documentArgs({ a: text });
    const found = Object.entries(document.components.responses).flatMap(([name, { content, headers }]) =>
      Object.entries(content!['application/problem+json']!.examples!).map(([code, { value }]) => {
        const status = name.replace('Problem', '');
        return { code: code as keyof typeof catalogue, status, headers, value: value as Record<string, unknown> };
      }),
    );
    for (const { code, status, headers, value } of found) {
      const { title, retryAfter } = catalogue[code];
      const { issues, details, ...body } = value;
      const expected = JSON.parse(
        problemBody(new Problem(code, title, { status: body.status as number }), 'a1b2-c3d4-0'),
      );
      expect(body).toEqual(expected);
      if (status !== '4XX') expect(String(catalogue[code].status)).toBe(status);
      if (retryAfter !== undefined) expect(headers).toHaveProperty('Retry-After');
      expect(headers).toHaveProperty('X-Request-ID');
    }
    const { properties } = document.components.schemas.Problem as { properties: { code: { enum: string[] } } };
    expect(new Set(found.map(({ code }) => code))).toEqual(new Set(properties.code.enum));
    expect(document.components.responses.Problem401?.headers).toHaveProperty('WWW-Authenticate');
  });
});

describe('the document', () => {
  it('has the server, the security scheme and the info of the options', async () => {
    const info = { title: 'T', version: '2' };
    const securityScheme = { type: 'apiKey', in: 'cookie', name: 'session' } as const;
    const { document } = await documentArgs({ a: text }, { basePath: '/x', info, securityScheme });
    expect(document).toMatchObject({ openapi: '3.1.1', info, servers: [{ url: '/x' }], security: [{ auth: [] }] });
    expect(document.components.securitySchemes).toEqual({ auth: securityScheme });
  });

  it('has a default server, security scheme and info', async () => {
    const { document } = await documentArgs({ a: text });
    expect(document.info).toMatchObject({ title: 'Mutators', version: '1.0.0' });
    expect(document.servers).toEqual([{ url: '/' }]);
    expect(document.components.securitySchemes.auth).toMatchObject({ type: 'http', scheme: 'bearer' });
  });

  it('is deterministic', async () => {
    const registry = () => documentArgs({ b: z.array(text.meta({ id: 'Text' })), a: text });
    expect(JSON.stringify((await registry()).document)).toBe(JSON.stringify((await registry()).document));
  });

  it('types each call of a batch by its name', async () => {
    const { schemas, post } = await documentArgs({ 'todo.create': text, 'todo.sweep': undefined });
    expect(post('').requestBody).toEqual({
      required: true,
      content: {
        'application/json': {
          schema: { type: 'array', maxItems: 1_000, items: { $ref: '#/components/schemas/Call' } },
        },
      },
    });
    expect(schemas.Call).toMatchObject({
      oneOf: [{ $ref: '#/components/schemas/TodoCreateCall' }, { $ref: '#/components/schemas/TodoSweepCall' }],
      discriminator: { propertyName: 'name', mapping: { 'todo.create': '#/components/schemas/TodoCreateCall' } },
    });
    expect(schemas.TodoCreateCall).toMatchObject({
      required: ['name', 'args'],
      properties: { name: { const: 'todo.create' }, args: { $ref: '#/components/schemas/TodoCreateArgs' } },
    });
    expect(schemas.TodoSweepCall).toMatchObject({ required: ['name'] });
  });

  it('describes a batch if there is one mutator or none', async () => {
    const one = await documentArgs({ 'todo.create': text });
    expect(one.schemas.Call).toEqual({
      description: 'A call of a mutator, by name.',
      $ref: '#/components/schemas/TodoCreateCall',
    });
    const none = await documentArgs({});
    expect(none.schemas.Call).toEqual({ description: 'A call of a mutator, by name.', not: {} });
    expect(none.document.tags.map(({ name }) => name)).toEqual(['mutators']);
  });

  it('describes the contents of an answer', async () => {
    const { schemas, post } = await documentMutators({
      sure: { validator: text, result: z.number() },
      open: { validator: text },
    });
    const rolledBack = { type: 'boolean', const: true, description: 'The call ran and was rolled back.' };
    const ok = { type: 'boolean', const: true };
    expect((post('/sure').responses['200'] as Response).content!['application/json']?.schema).toEqual({
      type: 'object',
      required: ['ok', 'result'],
      properties: { ok, result: { $ref: '#/components/schemas/SureResult' }, rolledBack },
    });
    expect(schemas.Answer).toEqual({
      type: 'object',
      required: ['ok'],
      properties: {
        ok,
        result: { description: 'What the mutator returned, as JSON. Absent if it returned nothing.' },
        rolledBack,
      },
      examples: [{ ok: true }],
    });
  });
});
