import type { Refusal } from './types.js';

/** An error that prevents a client from syncing, or from serving a call. The message says what to do about it. */
export class ClientError extends Error {
  override readonly name = 'ClientError';
  /** Stable, unlike the message: one of the server's error codes, or one of the client's own. */
  readonly code: string;
  /** For the code `refused`: the mutation that the server has refused, and the reason. */
  readonly refusal: Refusal | undefined;

  constructor(code: string, message: string, { refusal, ...options }: ErrorOptions & { refusal?: Refusal } = {}) {
    super(message, options);
    this.code = code;
    this.refusal = refusal;
  }
}

/** Advice on unsuccessful responses, by status. */
const advice: Readonly<Record<number, string>> = {
  401: 'give createClient a valid `auth`, or a `getAuth` that returns a new one; with a session cookie, sign in again',
  403: 'give each user another `user`, so that their data is kept apart; a page of another origin must be named in `sessionAuth`',
  404: 'check `url`: it is the address of the server with its basePath, without /sync',
};

/** Returns the error for a response that is not a success. */
export function refusedRequest(url: string, status: number, text: string): ClientError {
  let [code, detail] = [`http-${status}`, ''];
  try {
    const problem = JSON.parse(text) as { code?: unknown; detail?: unknown };
    if (typeof problem.code === 'string') code = problem.code;
    if (typeof problem.detail === 'string') detail = problem.detail;
  } catch {
    // The response may come from a proxy.
  }
  const said = detail ? `: ${detail}` : '';
  const todo = advice[status] ?? (status < 500 ? 'see docs/errors.md' : 'it is tried again; the server’s log says why');
  return new ClientError(code, `${url} answered with ${status}${said}. What to do: ${todo}.`);
}

/** Returns the error for a request without a response. */
export function unreachable(url: string, cause: unknown): ClientError {
  if ((cause as { name?: unknown }).name === 'TimeoutError') {
    const message = `${url} did not answer in time. What to do: nothing, it is tried again. If this continues, look for a proxy that holds back requests.`;
    return new ClientError('timeout', message, { cause });
  }
  const todo = 'is it running, and if it is of another origin, does its withCORS name this page’s?';
  return new ClientError('unreachable', `${url} cannot be reached: ${todo} It is tried again.`, { cause });
}

/** Returns the error for a response after which this client cannot continue. */
export function refusedClient({ error, versionType }: { error?: unknown; versionType?: unknown }): ClientError {
  if (error === 'ClientStateNotFound') return startOver();
  const message =
    versionType === 'schema'
      ? 'The server does not serve this `schemaVersion`. What to do: reload the page to get the current application, or name the version in `schemaVersions` of createSync.'
      : 'The server speaks another version of the protocol. What to do: use one version of Tidemark for client and server.';
  return new ClientError('version-not-supported', message);
}

/** Returns the error for a call to a closed client. */
export function closedClient(): ClientError {
  const message =
    'This client was closed, so the call has no effect. What to do: create another one with createClient.';
  return new ClientError('closed', message);
}

/** Returns the error for a call that the server has refused. */
export function refusedCall(refusal: Refusal): ClientError {
  const message = refusal.detail ?? `The server has refused the call with the code "${refusal.code}".`;
  return new ClientError('refused', message, { refusal });
}

/** Returns the error for a call that the server, or a proxy in front of it, would refuse as too large. */
export function callTooLarge(): ClientError {
  const message =
    'The args are too large to be sent, so the call has no effect: a smaller call was answered with 413. What to do: split the call, upload files elsewhere and pass their address, or raise `limits.push` of createSync and the limits of proxies.';
  return new ClientError('body-too-large', message);
}

/** Returns the error for a call to a client whose user has signed out. */
export function signedOut(): ClientError {
  const message = 'The user has signed out, so the call has no effect. What to do: show the page for signing in.';
  return new ClientError('signed-out', message);
}

/** Returns the error for a sign-out that could not delete the user's data. */
export function dataNotDeleted(cause: unknown): ClientError {
  const message =
    'The user has signed out, but their data is still in this browser: another tab does not respond, or the local database fails. What to do: tell the user to close the other tabs, and call signOut again. Otherwise, the next start deletes it.';
  return new ClientError('data-not-deleted', message, { cause });
}

/** Returns the error for a client whose record is lost. */
export function startOver(): ClientError {
  const message = 'The record of this client is lost, so it must start over. What to do: reload the page.';
  return new ClientError('client-state-not-found', message);
}

/** Returns the error for a pull whose response cannot be applied. */
export function notApplied(cause: unknown): ClientError {
  const message =
    'What the server has sent cannot be applied, so older data is shown. What to do: see `cause`; if the local database cannot be read, reload the page when nothing is pending. It is tried again.';
  return new ClientError('not-applied', message, { cause });
}

/** Returns the error for data in memory that cannot be stored. */
export function storageFailed(cause: unknown): ClientError {
  const name = (cause as { name?: unknown } | null)?.name;
  if (name === 'QuotaExceededError') {
    const message =
      'The browser has no disk space left, so changes are only in memory: they are lost if this page is closed before they are sent. What to do: tell the user to free disk space. Storing is tried again.';
    return new ClientError('storage-full', message, { cause });
  }
  if (name === 'NotFoundError') {
    const message =
      'The local database was deleted while it was in use, so changes are only in memory: they are lost if this page is closed before they are sent. What to do: reload the page when nothing is pending.';
    return new ClientError('storage-lost', message, { cause });
  }
  const message =
    'The local database cannot be written, so changes are only in memory: they are lost if this page is closed before they are sent. What to do: see `cause`. Storing is tried again.';
  return new ClientError('storage-failed', message, { cause });
}

/** Returns the error for a client that cannot use the local database, so that all its data is in memory. */
export function storageUnavailable(cause: unknown): ClientError {
  const message =
    'The local database cannot be opened or written, so everything is only in memory: what is not sent is lost when this page is closed, and nothing is here without a network next time. What to do: tell the user; private windows, blocked site data and full disks are common causes. The next load tries again.';
  return new ClientError('storage-unavailable', message, { cause });
}
