/**
 * Whether a request comes from a page of another origin, as far as browsers say. What is not sent by a browser, or by a
 * page of the request's own host, is not foreign.
 *
 * Only the request's own headers count. Behind a proxy that changes `Host`, a browser without `Sec-Fetch-Site` looks
 * foreign: that is an old one, or the connection is neither secure nor local.
 *
 * @see https://www.w3.org/TR/fetch-metadata/#sec-fetch-site-header
 */
export function isForeign({ headers, url }: Request): boolean {
  const site = headers.get('Sec-Fetch-Site');
  if (site !== null) return site !== 'same-origin' && site !== 'none';
  const origin = headers.get('Origin');
  if (origin === null) return false;
  const host = headers.get('Host') ?? new URL(url).host;
  // `Host` has no scheme, and a proxy may have ended TLS.
  return origin !== `https://${host}` && origin !== `http://${host}`;
}
