import { createClient } from '@tidemark/client';
import { createClientContext } from '@tidemark/client/react';
import { indexes, type Mutators, mutatorsFor, type Views } from './mutators.js';

export const { ClientProvider, useClient } = createClientContext<Mutators, Views>();

export function openClient(user: string) {
  return createClient<Mutators, Views>({ user, auth: `Bearer ${user}`, mutators: mutatorsFor(user), indexes });
}

/** A random ID. Not from `crypto.randomUUID`, which exists only in secure contexts. */
export function newID(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
