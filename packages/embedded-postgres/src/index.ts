/** Postgres from npm, for development and small servers: started, restarted and stopped with this process. */
export type { Log } from './log.js';
export { findRunning } from './running.js';
export { SetupError } from './setup-error.js';
export { type EmbeddedDatabase, type EmbeddedOptions, startEmbedded } from './start.js';
