/** @typedef {{ readonly userID: string }} Context */

/**
 * The bearer token is the user's name.
 * @param {Request} request
 */
export function authenticate(request) {
  const token = request.headers.get('Authorization')?.slice('Bearer '.length);
  return token ? { userID: token } : null;
}
