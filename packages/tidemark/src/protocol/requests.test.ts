import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Problem } from '../errors.js';
import { decodePokeRequest, keepAlive, pokeEvent, retryField } from './poke.js';
import { decodePullRequest } from './pull.js';
import { decodePushRequest } from './push.js';

const pull = { pullVersion: 1, clientGroupID: 'g', profileID: 'p', schemaVersion: '', cookie: null };
const mutation = { id: 1, name: 'n', args: null, timestamp: 1.5, clientID: 'c' };
const push = { pushVersion: 1, clientGroupID: 'g', profileID: 'p', schemaVersion: '', mutations: [mutation] };

/** Texts that every field refuses, and what the error says about them. */
const faulty: readonly (readonly [text: string, expected: string])[] = [
  ['\0', 'well-formed Unicode without U+0000'],
  ['a\ud800', 'well-formed Unicode without U+0000'],
  ['\udfffb', 'well-formed Unicode without U+0000'],
];

function expectMalformed(decode: () => unknown, message: string): void {
  expect(decode).toThrow(expect.objectContaining({ code: 'malformed-request', message }));
}

describe('decodePullRequest', () => {
  it('accepts what a client sends', () => {
    const { pullVersion: _, ...request } = pull;
    expect(decodePullRequest(pull)).toEqual(request);
    expect(decodePullRequest({ ...pull, extra: 1 })).toEqual(request);
  });

  it.each([0, 1.5, 'x', false, [], { order: 1 }, [[['deep']]]])('accepts any cookie: %j', (cookie) => {
    expect(decodePullRequest({ ...pull, cookie })).toMatchObject({ cookie });
  });

  it('accepts the optional client ID with its lastMutationID', () => {
    expect(decodePullRequest({ ...pull, clientID: 'c', lastMutationID: 0 })).toMatchObject({
      client: { id: 'c', lastMutationID: 0 },
    });
  });

  it.each([0, 2, -1, 1.5])('refuses version %d, whatever else the body contains', (pullVersion) => {
    expect(decodePullRequest({ pullVersion })).toEqual({ error: 'VersionNotSupported', versionType: 'pull' });
  });

  it.each(['x'.repeat(256), '😀'.repeat(128)])('accepts IDs of up to 256 characters (case %#)', (id) => {
    const request = { ...pull, clientGroupID: id, profileID: id, clientID: id, lastMutationID: 0 };
    expect(decodePullRequest(request)).toMatchObject({ clientGroupID: id, profileID: id, client: { id } });
  });

  it('accepts a schemaVersion of up to 1024 characters', () => {
    const schemaVersion = 'x'.repeat(1024);
    expect(decodePullRequest({ ...pull, schemaVersion })).toMatchObject({ schemaVersion });
  });

  it.each<[expected: string, body: unknown]>([
    ['The body must be a JSON object', null],
    ['The body must be a JSON object', []],
    ['The body must be a JSON object', 'x'],
    ['The body must be a JSON object', 1],
    ['pullVersion must be a number', {}],
    ['pullVersion must be a number', { ...pull, pullVersion: '1' }],
    ['pullVersion must be a number', Object.create(pull)],
    ['clientGroupID must be a string', { ...pull, clientGroupID: undefined }],
    ['clientGroupID must be a non-empty string', { ...pull, clientGroupID: '' }],
    ['clientGroupID must be at most 256 characters long', { ...pull, clientGroupID: 'x'.repeat(257) }],
    ['profileID must be at most 256 characters long', { ...pull, profileID: 'x'.repeat(257) }],
    ['schemaVersion must be at most 1024 characters long', { ...pull, schemaVersion: 'x'.repeat(1025) }],
    ['schemaVersion must be a string', { ...pull, schemaVersion: 1 }],
    ['cookie must be present; null on the first pull', { ...pull, cookie: undefined }],
    ['lastMutationID must be an integer of at least 0', { ...pull, clientID: 'c' }],
    ['lastMutationID must be an integer of at least 0', { ...pull, clientID: 'c', lastMutationID: -1 }],
    ['lastMutationID must be an integer of at least 0', { ...pull, clientID: 'c', lastMutationID: 2 ** 53 }],
    ['clientID must be a string', { ...pull, lastMutationID: 1 }],
    ...['clientGroupID', 'profileID', 'schemaVersion'].flatMap((field) =>
      faulty.map(([text, expected]): [string, unknown] => [`${field} must be ${expected}`, { ...pull, [field]: text }]),
    ),
  ])('throws "%s" (case %#)', (message, body) => {
    expectMalformed(() => decodePullRequest(body), message);
  });
});

const decodePush = (body: unknown) => decodePushRequest(body, 3);

describe('decodePushRequest', () => {
  it('accepts what a client sends, including duplicates', () => {
    const mutations = [mutation, mutation, { ...mutation, args: { a: [1] } }];
    const { pushVersion: _, ...request } = { ...push, mutations };
    expect(decodePush({ ...push, mutations })).toEqual(request);
  });

  it('returns null for missing args', () => {
    const { args: _, ...without } = mutation;
    expect(decodePush({ ...push, mutations: [without] })).toMatchObject({ mutations: [{ args: null }] });
  });

  it('refuses more mutations than a push may have', () => {
    const tooMany = { code: 'body-too-large', message: 'A push must not have more than 3 mutations' };
    expect(() => decodePush({ ...push, mutations: Array(4).fill(mutation) })).toThrow(expect.objectContaining(tooMany));
  });

  it('refuses more than a thousand clients', () => {
    const mutations = Array.from({ length: 1_001 }, (_, i) => ({ ...mutation, clientID: `c${i}` }));
    const decode = (count: number) => decodePushRequest({ ...push, mutations: mutations.slice(0, count) }, 10_000);
    expect(decode(1_000)).toHaveProperty('mutations.length', 1_000);
    const tooMany = { code: 'body-too-large', message: 'A push must not have more than 1000 clients' };
    expect(() => decode(1_001)).toThrow(expect.objectContaining(tooMany));
  });

  it('refuses another version', () => {
    expect(decodePush({ pushVersion: 0 })).toEqual({ error: 'VersionNotSupported', versionType: 'push' });
  });

  const pushing = (change: object) => ({ ...push, mutations: [{ ...mutation, ...change }] });

  it.each<[expected: string, body: unknown]>([
    ['The body must be a JSON object', null],
    ['pushVersion must be a number', { ...push, pushVersion: null }],
    ['clientGroupID must be a string', { ...push, clientGroupID: 1 }],
    ['profileID must be a string', { ...push, profileID: 1 }],
    ['schemaVersion must be a string', { ...push, schemaVersion: 1 }],
    ['mutations must be an array', { ...push, mutations: {} }],
    ['mutations[1] must be a JSON object', { ...push, mutations: [mutation, null] }],
    ['mutations[0].id must be an integer of at least 1', pushing({ id: 0 })],
    ['mutations[0].id must be an integer of at least 1', pushing({ id: 1.5 })],
    ['mutations[0].id must be an integer of at least 1', pushing({ id: '1' })],
    ['mutations[0].id must be an integer of at least 1', pushing({ id: 2 ** 53 })],
    ['mutations[0].name must be a string', pushing({ name: null })],
    ['mutations[0].clientID must be a non-empty string', pushing({ clientID: '' })],
    ['mutations[0].clientID must be well-formed Unicode without U+0000', pushing({ clientID: 'a\0' })],
    ['mutations[0].timestamp must be a number', pushing({ timestamp: '1' })],
  ])('throws "%s" (case %#)', (message, body) => {
    expectMalformed(() => decodePush(body), message);
  });
});

describe('decodePokeRequest', () => {
  const decode = (query: string) => decodePokeRequest(new URLSearchParams(query));

  it('accepts what a client sends in a query', () => {
    const request = { clientGroupID: 'g', profileID: 'p', schemaVersion: 's' };
    expect(decode('clientGroupID=g&profileID=p&schemaVersion=s&extra=1')).toEqual(request);
  });

  it('reads the option of refused mutations from a word', () => {
    expect(['true', 'false'].map((word) => decode(`clientGroupID=g&profileID=p&refused=${word}`).refused)).toEqual([
      true,
      false,
    ]);
    expect(decode('clientGroupID=g&profileID=p').refused).toBeUndefined();
  });

  it('returns an empty schemaVersion if it is missing', () => {
    expect(decode('clientGroupID=g&profileID=')).toEqual({ clientGroupID: 'g', profileID: '', schemaVersion: '' });
  });

  it.each([
    ['clientGroupID must be a string', 'profileID=p'],
    ['clientGroupID must be a non-empty string', 'clientGroupID=&profileID=p'],
    ['profileID must be a string', 'clientGroupID=g'],
    ['refused must be true or false', 'clientGroupID=g&profileID=p&refused='],
    ['refused must be true or false', 'clientGroupID=g&profileID=p&refused=1'],
    ['profileID must be well-formed Unicode without U+0000', 'clientGroupID=g&profileID=%00'],
    [
      'schemaVersion must be at most 1024 characters long',
      `clientGroupID=g&profileID=p&schemaVersion=${'x'.repeat(1025)}`,
    ],
  ])('throws "%s" (case %#)', (message, query) => {
    expectMalformed(() => decode(query), message);
  });
});

it('a stream of pokes contains events, comments and fields, each followed by an empty line', () => {
  expect([pokeEvent, keepAlive, retryField(1500)]).toEqual(['data: poke\n\n', ':\n\n', 'retry: 1500\n\n']);
});

it('any JSON value is decoded or refused', () => {
  const field = fc.oneof(fc.jsonValue(), fc.constant(1), fc.constant('id'), fc.constant([mutation]));
  const body = fc.oneof(
    fc.jsonValue(),
    fc.record(
      {
        pullVersion: field,
        pushVersion: field,
        clientGroupID: field,
        profileID: field,
        schemaVersion: field,
        cookie: field,
        mutations: fc.oneof(
          field,
          fc.array(fc.record({ id: field, name: field, clientID: field, timestamp: field, args: field })),
        ),
      },
      { requiredKeys: [] },
    ),
  );
  fc.assert(
    fc.property(body, (value) => {
      for (const decode of [decodePullRequest, decodePush]) {
        try {
          expect(decode(value)).toBeTypeOf('object');
        } catch (error) {
          expect(error).toBeInstanceOf(Problem);
        }
      }
    }),
    { numRuns: 2_000 },
  );
});
