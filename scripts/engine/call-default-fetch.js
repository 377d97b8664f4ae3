/** The client brings its own puller and pusher. The engine calls its own only if there is a URL. */
export function callDefaultFetch() {
  throw new Error('The engine sends no requests itself');
}
