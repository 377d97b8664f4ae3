/** Tidemark: a sync server for local-first web applications, on Postgres. */
export { type Config, defineConfig } from './config.js';
export type { UserContext } from './context.js';
export type { ForwardOptions } from './endpoints/forward.js';
export type { SyncPathOptions } from './endpoints/sync-paths.js';
export {
  type MapError,
  MutatorError,
  type MutatorErrorOptions,
  Problem,
  type ProblemCode,
  type ProblemOptions,
  SetupError,
} from './errors.js';

export type { Authenticate } from './http/identify.js';
export {
  type KeyValueIterator,
  type KeyValueScan,
  type KeyValueScanOptions,
  type KeyValueTransaction,
  keyValue,
} from './key-value/key-value.js';
export type { KeyValueRows } from './key-value/store.js';
export { lazySync } from './lazy-sync.js';
export type { Rate, RateLimiter, RateOptions } from './limits/rates.js';
export type { RequestLimitOptions, RequestLimits } from './limits/request-limits.js';
export type { Logger } from './log.js';
export { type MigrateOptions, migrate, type UninstallOptions, uninstall } from './migrate.js';
export type { Info, SecurityScheme } from './openapi/types.js';
export type { PokedClients } from './protocol/poke.js';
export type { CallsByName } from './registry/calls-by-name.js';
export {
  type DefineMutator,
  defineMutator,
  defineMutators,
  type Mutator,
  type MutatorCall,
  type MutatorDocs,
  type Mutators,
  mutatorFor,
} from './registry/mutators.js';
export type { Registry, Validators, ZeroRegistry } from './registry/registry.js';
export type { ArgsOf, ResultsOf, TypesOfSchemas, ValidArgsOf } from './registry/types.js';
export { type CreateRestOptions, createRest, type Rest, type RestOptions } from './rest.js';
export { createSync, type Sync, type TypedSync } from './server.js';
export { type QuerySource, type SqlQuery, sql } from './sql.js';
export type { PokesOptions, SyncOptions, TimeoutOptions } from './sync-options.js';
export type { TenantConfig, TenantOptions, TenantsOptions } from './tenants/options.js';
export { createTenants, defineTenants, type Tenants } from './tenants.js';
export type { BatchCall, BatchResults, UserAccess, UserView, ViewRows } from './user-access.js';
export {
  type DefineView,
  defineView,
  type RowOf,
  type View,
  type ViewDefinition,
  type ViewInput,
  type Views,
  viewFor,
} from './view/define.js';
export type { Key, KeyPart } from './view/keys/patterns.js';
export type { OnRefused, RefusedMutation } from './writes/refused-mutations.js';
