/**
 * How a server reads from a standby: today as a server of the standby, which forwards pushes to a server of the primary.
 * Once there is an option for two databases in one server, this is the one place that changes.
 * @param {string} standbyURL
 * @param {string} writerURL of the primary's server
 */
export const readingFrom = (standbyURL, writerURL) => ({
  database: standbyURL,
  forward: { url: `${writerURL}/sync/push` },
});
