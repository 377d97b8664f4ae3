/**
 * True if a page of another origin sent the request, according to the browser's headers. A request from a page of its
 * own host, or from no browser, is not foreign.
 *
 * Only this request's headers count. Behind a proxy that changes `Host`, browser requests without `Sec-Fetch-Site` look
 * foreign. They come from old browsers, or over connections that are neither secure nor local.
 *
 * @see https://www.w3.org/TR/fetch-metadata/#sec-fetch-site-header
 */
export function isForeign({ headers, url }: Request): boolean {
  const site = headers.get('Sec-Fetch-Site');
  if (site !== null) return site !== 'same-origin' && site !== 'none';
  const origin = headers.get('Origin');
  if (origin === null) return false;
  const host = headers.get('Host') ?? new URL(url).host;
  // `Host` has no scheme, and a proxy may have terminated TLS.
  return origin !== `https://${host}` && origin !== `http://${host}`;
}
