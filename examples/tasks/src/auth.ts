/** DEMO ONLY: trusts whatever name a caller gives. A real application checks a token or a session here. */
import type { UserContext } from 'tidemark';

/** The names that users of the demo can have. */
export const userName: RegExp = /^[a-z][a-z0-9_-]{0,31}$/;

/** Accepts `Authorization: Bearer <user name>`. Returns null for any other form. */
export function authenticate(request: Request): UserContext | null {
  const name = /^Bearer ([^ ]+)$/i.exec(request.headers.get('Authorization') ?? '')?.[1];
  return name !== undefined && userName.test(name) ? { userID: name } : null;
}
