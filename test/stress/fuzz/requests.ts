/** Requests as a user's client sends them. */

/** @param body The body of a POST; without one, the request is a GET. */
export function requestTo(path: string, user: number, body?: object): Request {
  const headers = { 'Content-Type': 'application/json', Authorization: `user ${user}` };
  const posted = body && { method: 'POST', body: JSON.stringify(body) };
  return new Request(`http://fuzz.test${path}`, { headers, ...posted });
}
