import { Problem } from '../errors.js';
import { type Envelope, field, malformed, readEnvelope, readID, readInteger, readObject } from './fields.js';
import type { VersionNotSupported } from './protocol-error.js';

/** One call of a mutator, as the client recorded it. */
export interface Mutation {
  /** The number of the mutation among those of the client, counted from 1. */
  readonly id: number;
  readonly clientID: string;
  /** The mutator's name. Any string: an unknown name fails this mutation, but not the push. */
  readonly name: string;
  /** Any JSON value; null if the client passed none; `tooLargeArgs` if the client could not send them. */
  readonly args: unknown;
  /** Milliseconds on the client's own clock, not since the Unix epoch. */
  readonly timestamp: number;
}

/** All pending mutations of a client group. A mutation may be sent more than once. */
export interface PushRequest extends Envelope {
  readonly mutations: readonly Mutation[];
}

/** In place of args that no request can carry. The mutation is refused, so that those behind it can go on. */
export const tooLargeArgs: unique symbol = Symbol('args that are too large to be sent');

/** The name under which a client pushes such a mutation, with `{ name }` as its args. */
const withdrawnName = 'tidemark/withdrawn';

/** The most clients in a push. A client group has one for each time that the application was opened. */
const mostClients = 1_000;

/**
 * Decodes the JSON value of a push request's body. Ignores unknown fields.
 * @param most the most mutations that a push may have
 * @throws Problem `malformed-request`, naming the field; or `body-too-large` if it has too many mutations or clients.
 */
export function decodePushRequest(body: unknown, most: number): PushRequest | VersionNotSupported {
  const request = readObject(body, 'The body');
  const pushVersion = field(request, 'pushVersion');
  if (typeof pushVersion !== 'number') throw malformed('pushVersion', 'a number');
  if (pushVersion !== 1) return { error: 'VersionNotSupported', versionType: 'push' };
  const mutations = field(request, 'mutations');
  if (!Array.isArray(mutations)) throw malformed('mutations', 'an array');
  if (mutations.length > most) throw tooMany(most, 'mutations');
  const decoded = { ...readEnvelope((name) => field(request, name)), mutations: mutations.map(decodeMutation) };
  const clients = new Set(decoded.mutations.map(({ clientID }) => clientID));
  if (clients.size > mostClients) throw tooMany(mostClients, 'clients');
  return decoded;
}

function tooMany(most: number, what: string): Problem {
  return new Problem('body-too-large', `A push must not have more than ${most} ${what}`);
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
