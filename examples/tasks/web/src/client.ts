import { type Client, createClient } from 'tidemark/client';
import { indexes, type Mutators, mutatorsFor, type Views } from './mutators.js';
import { createClientContext } from './react.js';

export const { ClientProvider, useClient } = createClientContext<Mutators, Views>();

export function openClient(user: string): Client<Mutators, Views> {
  return createClient({ user, auth: `Bearer ${user}`, mutators: mutatorsFor(user), indexes });
}

/** A random ID. Not from `crypto.randomUUID`, which exists only in secure contexts. */
export function newID(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
