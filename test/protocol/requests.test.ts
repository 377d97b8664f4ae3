import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Problem } from '../../src/errors.js';
import { decodePullRequest } from '../../src/protocol/pull.js';
import { decodePushRequest } from '../../src/protocol/push.js';

const pull = { pullVersion: 1, clientGroupID: 'g', profileID: 'p', schemaVersion: '', cookie: null };
const mutation = { id: 1, name: 'n', args: null, timestamp: 1.5, clientID: 'c' };
const push = { pushVersion: 1, clientGroupID: 'g', profileID: 'p', schemaVersion: '', mutations: [mutation] };

const unstorable = ['\0', 'a\ud800', '\udfffb', 'x'.repeat(5_000)];

describe('decodePullRequest', () => {
  test('takes what a client sends', () => {
    const { pullVersion: _, ...request } = pull;
    expect(decodePullRequest(pull)).toEqual(request);
    expect(decodePullRequest({ ...pull, extra: 1 })).toEqual(request);
  });

  test.each([0, 1.5, 'x', false, [], { order: 1 }, [[['deep']]]])('takes any cookie: %j', (cookie) => {
    expect(decodePullRequest({ ...pull, cookie })).toMatchObject({ cookie });
  });

  test('takes the optional pair that names the client', () => {
    expect(decodePullRequest({ ...pull, clientID: 'c', lastMutationID: 0 })).toMatchObject({
      client: { id: 'c', lastMutationID: 0 },
    });
  });

  test.each([0, 2, -1, 1.5])('does not support version %d, whatever else is in it', (pullVersion) => {
    expect(decodePullRequest({ pullVersion })).toEqual({ error: 'VersionNotSupported', versionType: 'pull' });
  });

  test.each([
    ['The body', null],
    ['The body', []],
    ['The body', 'x'],
    ['The body', 1],
    ['pullVersion', {}],
    ['pullVersion', { ...pull, pullVersion: '1' }],
    ['clientGroupID', { ...pull, clientGroupID: undefined }],
    ['clientGroupID', { ...pull, clientGroupID: '' }],
    ['clientGroupID', { ...pull, clientGroupID: 'x'.repeat(257) }],
    ...unstorable.map((clientGroupID): [string, unknown] => ['clientGroupID', { ...pull, clientGroupID }]),
    ...unstorable.map((profileID): [string, unknown] => ['profileID', { ...pull, profileID }]),
    ...unstorable.map((schemaVersion): [string, unknown] => ['schemaVersion', { ...pull, schemaVersion }]),
    ['schemaVersion', { ...pull, schemaVersion: 1 }],
    ['cookie', { ...pull, cookie: undefined }],
    ['lastMutationID', { ...pull, clientID: 'c' }],
    ['lastMutationID', { ...pull, clientID: 'c', lastMutationID: -1 }],
    ['lastMutationID', { ...pull, clientID: 'c', lastMutationID: 2 ** 53 }],
    ['clientID', { ...pull, lastMutationID: 1 }],
    ['pullVersion', Object.create(pull)],
  ])('names %s: case %#', (field, body) => {
    expect(() => decodePullRequest(body)).toThrow(
      expect.objectContaining({
        code: 'malformed-request',
        message: expect.stringMatching(new RegExp(`^${field} must`)),
      }),
    );
  });
});

describe('decodePushRequest', () => {
  test('takes what a client sends, duplicates too', () => {
    expect(decodePushRequest({ ...push, mutations: [mutation, mutation] })).toMatchObject({
      clientGroupID: 'g',
      mutations: [mutation, mutation],
    });
  });

  test('args that are left out are null', () => {
    const { args: _, ...without } = mutation;
    expect(decodePushRequest({ ...push, mutations: [without] })).toMatchObject({ mutations: [{ args: null }] });
  });

  test('does not support another version', () => {
    expect(decodePushRequest({ pushVersion: 0 })).toEqual({ error: 'VersionNotSupported', versionType: 'push' });
  });

  test.each([
    ['mutations', { ...push, mutations: {} }],
    ['mutations\\[1\\]', { ...push, mutations: [mutation, null] }],
    ['mutations\\[0\\].id', { ...push, mutations: [{ ...mutation, id: 0 }] }],
    ['mutations\\[0\\].id', { ...push, mutations: [{ ...mutation, id: 1.5 }] }],
    ['mutations\\[0\\].id', { ...push, mutations: [{ ...mutation, id: '1' }] }],
    ['mutations\\[0\\].id', { ...push, mutations: [{ ...mutation, id: 2 ** 53 }] }],
    ['mutations\\[0\\].name', { ...push, mutations: [{ ...mutation, name: null }] }],
    ['mutations\\[0\\].clientID', { ...push, mutations: [{ ...mutation, clientID: '' }] }],
    ['mutations\\[0\\].clientID', { ...push, mutations: [{ ...mutation, clientID: 'a\0' }] }],
    ['mutations\\[0\\].timestamp', { ...push, mutations: [{ ...mutation, timestamp: '1' }] }],
    ['pushVersion', { ...push, pushVersion: null }],
  ])('names %s: case %#', (field, body) => {
    expect(() => decodePushRequest(body)).toThrow(
      expect.objectContaining({
        code: 'malformed-request',
        message: expect.stringMatching(new RegExp(`^${field} must`)),
      }),
    );
  });
});

test('any JSON at all is decoded or refused', () => {
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
      for (const decode of [decodePullRequest, decodePushRequest]) {
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
