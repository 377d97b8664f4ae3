/**
 * DEMO ONLY: whoever asks is believed to be whom they name. A real application checks a token or a session here.
 */
import type { UserContext } from 'tidemark';

/** What a user of the demo may be called. */
export const userName: RegExp = /^[a-z][a-z0-9_-]{0,31}$/;

/** Takes `Authorization: Bearer <user name>`. Null for any other form. */
export function authenticate(request: Request): UserContext | null {
  const name = /^Bearer ([^ ]+)$/i.exec(request.headers.get('Authorization') ?? '')?.[1];
  return name !== undefined && userName.test(name) ? { userID: name } : null;
}
