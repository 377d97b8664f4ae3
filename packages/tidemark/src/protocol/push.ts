import { Problem } from '../errors.js';
import { type Envelope, field, malformed, readEnvelope, readID, readInteger, readObject } from './fields.js';
import type { VersionNotSupported } from './protocol-error.js';

/** One call of a mutator, as the client recorded it. */
export interface Mutation {
  /** The mutation's number among those of its client, counted from 1. */
  readonly id: number;
  readonly clientID: string;
  /** The mutator's name, which can be any string. An unknown name fails this mutation, but not the push. */
  readonly name: string;
  /** Any JSON value; null if the client passed none; `tooLargeArgs` if the client could not send them. */
  readonly args: unknown;
  /** Milliseconds on the client's own clock, not since the Unix epoch. */
  readonly timestamp: number;
}

/** All pending mutations of a client group. A client may send a mutation more than once. */
export interface PushRequest extends Envelope {
  readonly mutations: readonly Mutation[];
}

/** Replaces args that no request can carry. The server refuses the mutation, so that later ones can proceed. */
export const tooLargeArgs: unique symbol = Symbol('args that are too large to be sent');

/** The name under which a client pushes a mutation with `tooLargeArgs`. Its args are then `{ name }`. */
const withdrawnName = 'tidemark/withdrawn';

/** The maximum number of clients in a push. A client group gets a client each time that the application is opened. */
const maxClients = 1_000;

/**
 * Decodes the JSON value of a push request's body. Ignores unknown fields.
 * @param maxMutations the maximum number of mutations in a push
 * @throws Problem `malformed-request`, naming the field; or `body-too-large` for too many mutations or clients.
 */
export function decodePushRequest(body: unknown, maxMutations: number): PushRequest | VersionNotSupported {
  const request = readObject(body, 'The body');
  const pushVersion = field(request, 'pushVersion');
  if (typeof pushVersion !== 'number') throw malformed('pushVersion', 'a number');
  if (pushVersion !== 1) return { error: 'VersionNotSupported', versionType: 'push' };
  const mutations = field(request, 'mutations');
  if (!Array.isArray(mutations)) throw malformed('mutations', 'an array');
  if (mutations.length > maxMutations) throw tooMany(maxMutations, 'mutations');
  const decoded = { ...readEnvelope((name) => field(request, name)), mutations: mutations.map(decodeMutation) };
  const clients = new Set(decoded.mutations.map(({ clientID }) => clientID));
  if (clients.size > maxClients) throw tooMany(maxClients, 'clients');
  return decoded;
}

function tooMany(max: number, what: string): Problem {
  return new Problem('body-too-large', `A push must not have more than ${max} ${what}`);
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
    ...decodeCall(name, field(mutation, 'args') ?? null, at),
    timestamp,
  };
}

function decodeCall(name: string, args: unknown, at: string): Pick<Mutation, 'name' | 'args'> {
  if (name !== withdrawnName) return { name, args };
  const called = field(readObject(args, `${at}.args`), 'name');
  if (typeof called !== 'string') throw malformed(`${at}.args.name`, 'a string');
  return { name: called, args: tooLargeArgs };
}
