/** Tidemark: a sync server for local-first web applications, on Postgres. */

export { Problem, SetupError } from './errors.js';
export { type MigrateOptions, migrate, uninstall } from './migrate.js';
export { createSync, type Sync, type SyncOptions } from './server.js';
export { type QuerySource, type SqlQuery, sql } from './sql.js';
export { defineView, type RowOf, type View, type ViewDefinition, type ViewInput, type Views } from './view/define.js';
