import { type Envelope, field, readEnvelope, readObject, readOptionalFlag } from './fields.js';
import { decodeWants, type RequestedWant, type Want } from './wants.js';

/** A request to subscribe to pokes, from the request's query string. */
export interface PokeRequest extends Envelope {
  /** As in a `PullRequest`: if true, refused mutations of other client groups also poke the client. Default false. */
  readonly refused?: boolean | undefined;
}

/** The texts of a flag in a query string. */
const flags: ReadonlyMap<unknown, boolean> = new Map([
  ['true', true],
  ['false', false],
]);

/** The clients of a user to be poked, as named by the application. */
export interface PokedClients {
  /**
   * A client group, which is also poked when one of its mutations had no effect. Default: all of the user's groups,
   * which are poked for the mutations of any of them.
   */
  readonly clientGroupID?: string | undefined;
  /** The ID of the browser profile, an input of the views. Default: empty. */
  readonly profileID?: string | undefined;
  /** The schema that the clients were built for, an input of the views. Default: empty. */
  readonly schemaVersion?: string | undefined;
}

/** A subscription to pokes, of one client group or of all client groups of a user. */
export interface SubscribeRequest extends Omit<PokeRequest, 'clientGroupID'>, Pick<PokedClients, 'clientGroupID'> {
  /** The wanted instances of views with arguments. Default: none. */
  readonly wants?: readonly Want[] | undefined;
}

/**
 * Checks the clients that an application names, and fills in the defaults.
 * @throws Problem `malformed-request`, naming the field.
 */
export function readPokedClients(clients: PokedClients): SubscribeRequest {
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

/**
 * Decodes the JSON value of the body of a poke request.
 * @throws Problem `malformed-request`, naming the field.
 */
export function decodePokeBody(body: unknown): readonly RequestedWant[] | undefined {
  return decodeWants(field(readObject(body, 'The body'), 'wants'));
}

/** The event of a poke. It means only that there is something to pull. */
export const pokeEvent = 'data: poke\n\n';

/** A keep-alive comment. */
export const keepAlive = ':\n\n';

/** Returns the field that sets how many milliseconds the client waits before it reconnects. */
export function retryField(ms: number): string {
  return `retry: ${ms}\n\n`;
}
