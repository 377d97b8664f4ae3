import { type Envelope, readEnvelope } from './envelope.js';
import { field, malformed, readID, readInteger, readObject } from './fields.js';
import type { VersionNotSupported } from './protocol-error.js';

/** One call of a mutator, as the client recorded it. */
export interface Mutation {
  /** Counts the client's mutations from 1. */
  readonly id: number;
  readonly clientID: string;
  /** Any string: a name that no mutator has fails this mutation, not the push. */
  readonly name: string;
  /** Any JSON value; null where the client passed none. */
  readonly args: unknown;
  /** Milliseconds on the client's own clock; not epoch time. */
  readonly timestamp: number;
}

/** Every mutation of a client group that is still pending. The same one may come twice. */
export interface PushRequest extends Envelope {
  readonly mutations: readonly Mutation[];
}

/**
 * Decodes the JSON value of a push request's body. Fields that are not known are accepted and left out.
 * @throws Problem `malformed-request`, naming the field.
 */
export function decodePushRequest(body: unknown): PushRequest | VersionNotSupported {
  const request = readObject(body, 'The body');
  const pushVersion = field(request, 'pushVersion');
  if (typeof pushVersion !== 'number') throw malformed('pushVersion', 'a number');
  if (pushVersion !== 1) return { error: 'VersionNotSupported', versionType: 'push' };
  const mutations = field(request, 'mutations');
  if (!Array.isArray(mutations)) throw malformed('mutations', 'an array');
  return {
    ...readEnvelope((name) => field(request, name)),
    mutations: mutations.map(decodeMutation),
  };
}

function decodeMutation(value: unknown, index: number): Mutation {
  const at = `mutations[${index}]`;
  const mutation = readObject(value, at);
  const name = field(mutation, 'name');
  if (typeof name !== 'string') throw malformed(`${at}.name`, 'a string');
  const timestamp = field(mutation, 'timestamp');
  if (typeof timestamp !== 'number') throw malformed(`${at}.timestamp`, 'a number');
  return {
    id: readInteger(field(mutation, 'id'), `${at}.id`, 1),
    clientID: readID(field(mutation, 'clientID'), `${at}.clientID`),
    name,
    args: field(mutation, 'args') ?? null,
    timestamp,
  };
}
