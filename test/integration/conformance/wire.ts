/** Requests as the sync client makes them, without the client. */

/** The server that requests go to. */
export interface Address {
  /** Without a trailing slash. */
  readonly url: string;
}

export type JSONObject = { [key: string]: unknown };
export type Op = { op: 'put'; key: string; value: unknown } | { op: 'del'; key: string } | { op: 'clear' };

export interface PullAnswer {
  readonly cookie: JSONObject & { order: number | string };
  readonly lastMutationIDChanges: { [clientID: string]: number };
  readonly patch: Op[];
}

export interface Answer<Body = JSONObject> {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: Body;
}

/** Sends any body to any path. Text is sent as it is, everything else as JSON. */
export async function send(
  server: Address,
  path: string,
  body: unknown,
  { user = 'ann', ...init }: RequestInit & { user?: string | null } = {},
): Promise<Answer> {
  const headers = new Headers({ 'Content-Type': 'application/json', ...(init.headers as Record<string, string>) });
  if (user !== null) headers.set('Authorization', `Bearer ${user}`);
  const response = await fetch(server.url + path, {
    method: 'POST',
    ...init,
    headers,
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: text ? JSON.parse(text) : undefined };
}

export function pullBody(fields: JSONObject = {}): JSONObject {
  return { pullVersion: 1, clientGroupID: 'group', profileID: 'profile', schemaVersion: '', cookie: null, ...fields };
}

/** Pulls, and fails unless the pull succeeds. */
export async function pull(server: Address, user: string, fields: JSONObject = {}): Promise<PullAnswer> {
  const answer = await send(server, '/sync/pull', pullBody(fields), { user });
  if (answer.status !== 200 || !('patch' in answer.body)) throw new Error(`${answer.status}: ${answer.text}`);
  return answer.body as unknown as PullAnswer;
}

export function mutation(id: number, name: string, args: unknown, clientID = 'client'): JSONObject {
  return { id, name, args, clientID, timestamp: 1.5 };
}

export function pushBody(mutations: unknown[], fields: JSONObject = {}): JSONObject {
  return { pushVersion: 1, clientGroupID: 'group', profileID: 'profile', schemaVersion: '', mutations, ...fields };
}

export function push(server: Address, user: string, mutations: JSONObject[], fields: JSONObject = {}): Promise<Answer> {
  return send(server, '/sync/push', pushBody(mutations, fields), { user });
}

type Ordered = null | string | number | { readonly order: string | number };

/** The client's own comparison of cookies: null is lowest, numbers compare by value, anything else by UTF-16 unit. */
export function compareCookies(a: Ordered, b: Ordered): number {
  if (a === b) return 0;
  if (a === null) return -1;
  if (b === null) return 1;
  const [x, y] = [a, b].map((cookie) => (typeof cookie === 'object' ? cookie!.order : cookie)) as [Ordered, Ordered];
  if (typeof x === 'number' && typeof y === 'number') return x - y;
  const [s, t] = [String(x), String(y)];
  return s === t ? 0 : s < t ? -1 : 1;
}

/** Returns a client's map after a patch. */
export function applied(before: ReadonlyMap<string, unknown>, patch: readonly Op[]): Map<string, unknown> {
  const map = new Map(before);
  for (const op of patch) {
    if (op.op === 'clear') map.clear();
    else if (op.op === 'del') map.delete(op.key);
    else map.set(op.key, op.value);
  }
  return map;
}
