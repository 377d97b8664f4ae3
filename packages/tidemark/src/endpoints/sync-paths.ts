import { SetupError } from '../errors.js';

/** The endpoints that sync clients call. */
export type SyncEndpoint = 'pull' | 'push' | 'poke';

/** The paths of the endpoints, after the prefix of all paths. */
export interface SyncPathOptions {
  /** Where clients pull. Default `/sync/pull`. */
  readonly pull?: string | undefined;
  /** Where clients push. Default `/sync/push`. */
  readonly push?: string | undefined;
  /** Where clients subscribe to pokes. Default `/sync/poke`. */
  readonly poke?: string | undefined;
}

/**
 * Returns the path of each endpoint, in Hono's syntax.
 * @throws SetupError for a path that does not begin with a slash, or that two endpoints share
 */
export function syncPaths(basePath: string, options: SyncPathOptions = {}): Readonly<Record<SyncEndpoint, string>> {
  const { pull = '/sync/pull', push = '/sync/push', poke = '/sync/poke' } = options;
  const paths = [pull, push, poke];
  const wrong = paths.find((path) => !path.startsWith('/'));
  if (wrong !== undefined) throw new SetupError(`The option \`paths\` has "${wrong}". Begin each path with a slash.`);
  if (new Set(paths).size < paths.length) throw new SetupError('The option `paths` has the same path twice.');
  return { pull: basePath + pull, push: basePath + push, poke: basePath + poke };
}
