/** An issuer of tokens, and a server that publishes its keys. */
import { generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, type JWTPayload, SignJWT } from 'jose';

export const issuer = 'https://issuer.test';
export const audience = 'notes';

/** A named key pair. */
export interface Signer {
  readonly kid: string;
  readonly algorithm: 'RS256' | 'ES256';
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

export function createSigner(algorithm: Signer['algorithm'] = 'ES256', kid: string = randomUUID()): Signer {
  const pair =
    algorithm === 'RS256'
      ? generateKeyPairSync('rsa', { modulusLength: 2048 })
      : generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { kid, algorithm, ...pair };
}

export function pemOf({ publicKey }: Signer): string {
  return publicKey.export({ type: 'spki', format: 'pem' }).toString();
}

/** The current time in seconds. */
export function now(): number {
  return Math.floor(Date.now() / 1000);
}

/** Ann's claims, valid for an hour, with overrides; undefined removes a claim. */
export function claimsOf(claims: Record<string, unknown> = {}): JWTPayload {
  const all = { sub: 'ann', iss: issuer, aud: audience, exp: now() + 3600, ...claims };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

/** Signs a token of Ann's with these claims (see `claimsOf`). */
export function sign({ kid, algorithm, privateKey }: Signer, claims: Record<string, unknown> = {}): Promise<string> {
  return new SignJWT(claimsOf(claims)).setProtectedHeader({ alg: algorithm, kid }).sign(privateKey);
}

/** A server that publishes the keys of signers. */
export interface KeyServer {
  readonly url: string;
  /** The paths of all requests. */
  readonly asked: string[];
  /** The signers whose keys it publishes. */
  signers: readonly Signer[];
  /** Handles requests, instead of responding with the keys. */
  onRequest: ((request: IncomingMessage, response: ServerResponse) => void) | undefined;
  close(): Promise<void>;
}

export async function serveKeys(...signers: Signer[]): Promise<KeyServer> {
  const server = createServer(async (request, response) => {
    keys.asked.push(request.url!);
    if (keys.onRequest) return keys.onRequest(request, response);
    const set = await Promise.all(
      keys.signers.map(async ({ kid, publicKey }) => ({ kid, use: 'sig', ...(await exportJWK(publicKey)) })),
    );
    response.setHeader('Content-Type', 'application/json').end(JSON.stringify({ keys: set }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const keys: KeyServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks.json`,
    asked: [],
    signers,
    onRequest: undefined,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return keys;
}

/** A request with a token. */
export function withToken(token: string): Request {
  return new Request('http://localhost/', { headers: { Authorization: `Bearer ${token}` } });
}
