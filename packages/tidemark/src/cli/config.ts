/** Finds and loads `tidemark.config.ts`. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createJiti } from 'jiti';
import type { ClientBase } from 'pg';
import type { Config } from '../config.js';
import { SetupError } from '../errors.js';
import { explainFailure } from '../failure.js';
import { isRegistry } from '../registry/registry.js';
import type { WithTx } from '../sync-options.js';
import type { TenantsOptions } from '../tenants/options.js';

/** A configuration loaded at run time. Has the default types, because the application's own types are unknown. */
export type LoadedConfig = Config & WithTx<ClientBase>;

const fileNames = ['tidemark.config.ts', 'tidemark.config.js', 'tidemark.config.mjs'];

/**
 * Loads the configuration of one database, from TypeScript or JavaScript.
 * @param path the file given with `--config`; undefined searches the working directory
 * @throws SetupError if there is no such file, it does not export a configuration, or the configuration has tenants.
 */
export async function loadConfig(path: string | undefined): Promise<LoadedConfig> {
  const config = await loadAnyConfig(path);
  if (!isOfTenants(config)) return config;
  throw new SetupError(
    'The configuration has tenants, and this command works on one database. Name a file with --config that exports ' +
      'what `open` returns for one of them, and set DATABASE_URL.',
  );
}

/**
 * Loads the configuration of one database or of tenants, from TypeScript or JavaScript.
 * @throws SetupError if there is no such file, or it does not export a configuration.
 */
export async function loadAnyConfig(path: string | undefined): Promise<LoadedConfig | TenantsOptions> {
  const file = path === undefined ? findConfig() : resolve(String(path));
  if (!existsSync(file)) throw new SetupError(`${file} does not exist.`);
  const exported = await load(file);
  if (isOfTenants(exported)) return exported;
  const fault = faultOf(exported);
  if (fault !== undefined) {
    throw new SetupError(
      `${file} ${fault}. It must contain: export default defineConfig({ views, mutators, authenticate })`,
    );
  }
  return exported as LoadedConfig;
}

/** Checks whether a configuration is for tenants. */
export function isOfTenants(exported: unknown): exported is TenantsOptions {
  const { tenantOf, open } = Object(exported) as Partial<Record<string, unknown>>;
  return typeof tenantOf === 'function' && typeof open === 'function';
}

function findConfig(): string {
  const found = fileNames.map((name) => resolve(name)).find((file) => existsSync(file));
  if (found !== undefined) return found;
  const names = `${fileNames.slice(0, -1).join(', ')} or ${fileNames.at(-1)}`;
  throw new SetupError(`There is no ${names} in ${process.cwd()}. Create one, or name another file with --config.`);
}

async function load(file: string): Promise<unknown> {
  try {
    // `interopDefault` would return the named exports if there is no default export.
    const jiti = createJiti(import.meta.url, { interopDefault: false });
    return (await jiti.import<{ default?: unknown }>(pathToFileURL(file).href)).default;
  } catch (error) {
    throw new SetupError(`Cannot load ${file}. ${explainFailure(error)}`, { cause: error });
  }
}

function faultOf(exported: unknown): string | undefined {
  if (typeof exported !== 'object' || exported === null) return 'has no default export';
  const { views, authenticate, mutators } = exported as Partial<Record<string, unknown>>;
  if (typeof views !== 'object' || views === null) return 'does not export views';
  if (typeof authenticate !== 'function') return 'does not export an authenticate function';
  if (mutators !== undefined && !isRegistry(mutators)) return 'exports mutators that do not come from defineMutators';
  return undefined;
}
