import { type Envelope, readEnvelope, readOptionalFlag } from './fields.js';

/** Who listens for pokes, from the request's query string. */
export interface PokeRequest extends Envelope {
  /** As in pulls: the client is also poked about refused mutations that are not of its own group. Default false. */
  readonly refused?: boolean | undefined;
}

/** What stands for a flag in a query string. */
const flags: ReadonlyMap<unknown, boolean> = new Map([
  ['true', true],
  ['false', false],
]);

/** Which of a user's clients are to be poked, as an application says it. */
export interface PokedClients {
  /**
   * A client group: it is also poked when a mutation of its own had no effect. Default: all of the user's, for which the
   * mutations of any count.
   */
  readonly clientGroupID?: string | undefined;
  /** The ID of the browser profile, an input of the views. Default: empty. */
  readonly profileID?: string | undefined;
  /** The schema that the clients were built for, an input of the views. Default: empty. */
  readonly schemaVersion?: string | undefined;
}

/** Who listens for pokes: one client group, or all of a user's. */
export type Listening = Omit<PokeRequest, 'clientGroupID'> & Pick<PokedClients, 'clientGroupID'>;

/**
 * Completes and checks what an application says.
 * @throws Problem `malformed-request`, naming the field.
 */
export function readPokedClients(clients: PokedClients): Listening {
  const { clientGroupID = 'all', profileID = '', schemaVersion = '' } = clients;
  const given = { clientGroupID, profileID, schemaVersion };
  return { ...readEnvelope((name) => given[name]), clientGroupID: clients.clientGroupID };
}

/**
 * Decodes the query string of a poke request. Ignores unknown parameters.
 * @throws Problem `malformed-request`, naming the parameter.
 */
export function decodePokeRequest(query: URLSearchParams): PokeRequest {
  const refused = query.get('refused') ?? undefined;
  return {
    ...readEnvelope((name) => query.get(name) ?? (name === 'schemaVersion' ? '' : undefined)),
    refused: readOptionalFlag(flags.get(refused) ?? refused, 'refused'),
  };
}

/** The event of a poke. It says only that there is something to pull. */
export const pokeEvent = 'data: poke\n\n';

/** A comment that shows that the connection is alive. */
export const heartbeat = ':\n\n';

/** The field that tells the client after how many milliseconds to reconnect when it loses the connection. */
export function retryField(ms: number): string {
  return `retry: ${ms}\n\n`;
}
