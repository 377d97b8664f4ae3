/** The code under test on a case's database, with those of its views that it accepts. */

import type { Logger } from '../../../packages/tidemark/src/log.js';
import type { Sync } from '../../../packages/tidemark/src/server.js';
import { defineView, type Views } from '../../../packages/tidemark/src/view/define.js';
import { silent } from '../../support/log.js';
import type { Code } from '../oracle/code.js';
import type { CaseDatabase, HookedPool } from './database.js';
import { Difference } from './difference.js';
import { optionsOf } from './shape.js';
import { userAt, valuesFor } from './users.js';
import { type FuzzView, textOfView } from './view.js';
import { argsOptions, type InstanceArgs, takesArgs } from './wants.js';

export interface Context {
  readonly userID: string;
}

export interface Served {
  readonly sync: Sync;
  readonly pool: HookedPool;
}

export interface ServingOptions {
  readonly code: Code;
  readonly database: CaseDatabase;
  readonly checksConsistency: boolean;
  /** True if the parameters of views come from arguments. */
  readonly hasInstances: boolean;
  /** Called for a refused view, with the message. */
  readonly onRefused: (view: FuzzView, message: string) => void;
  readonly onError: (message: string, error: unknown) => void;
}

const refusals = [
  /^The view "(.*?)" cannot be served: (.*)$/s,
  /^The changes to the view "(.*?)" cannot be computed: (.*)$/s,
];

/** Starts a server of the acceptable views and reports all others. Captures their tables if `migrates`. */
export async function servable(
  options: ServingOptions,
  views: readonly FuzzView[],
  migrates: boolean,
): Promise<{ views: readonly FuzzView[]; served: Served }> {
  let acceptable = views;
  for (;;) {
    try {
      return { views: acceptable, served: await start(options, acceptable, migrates) };
    } catch (error) {
      const refused = await refusedBy(error as Error, options, acceptable, migrates);
      options.onRefused(refused.view, refused.message);
      acceptable = acceptable.filter((view) => view !== refused.view);
    }
  }
}

async function start(options: ServingOptions, views: readonly FuzzView[], migrates: boolean): Promise<Served> {
  if (migrates)
    await options.code.migrate({
      database: options.database.url,
      views: toViews(views, options.hasInstances),
      log: silent,
    });
  return serve(options, views);
}

interface Refused {
  readonly view: FuzzView;
  readonly message: string;
}

/** @throws Difference if the server does not start for another reason than a view */
async function refusedBy(
  error: Error,
  options: ServingOptions,
  views: readonly FuzzView[],
  migrates: boolean,
): Promise<Refused> {
  if (error.message.startsWith('Changes to ')) throw new Difference('setup', error.message);
  for (const pattern of refusals) {
    const match = pattern.exec(error.message);
    const view = match && views.find(({ name }) => name === match[1]);
    if (view) return { view, message: match[2]! };
  }
  for (const view of views) {
    const message = await start(options, [view], migrates).then(
      () => undefined,
      (alone: Error) => `without the view's name: ${alone.message}`,
    );
    if (message !== undefined) return { view, message };
  }
  throw new Difference('setup', error.message);
}

/** @param settings planner settings */
export async function serve(
  { code, database, checksConsistency, hasInstances, onError }: ServingOptions,
  views: readonly FuzzView[],
  settings: readonly string[] = [],
): Promise<Served> {
  const pool = database.openPool(settings);
  const log: Logger = {
    debug() {},
    info() {},
    warn: (fields, message) => onError(message, fields),
    error: (fields, message) => onError(message, fields),
  };
  const authenticate = (request: Request) => ({ userID: request.headers.get('Authorization')! });
  const sync = await code.createSync<Context>({
    database: pool,
    views: toViews(views, hasInstances),
    authenticate,
    log,
    consistencyChecks: checksConsistency ? 1 : 0,
    pokes: { intervalMs: 60_000 },
  });
  database.onClose(() => sync.close());
  return { sync, pool };
}

export function toViews(views: readonly FuzzView[], hasInstances: boolean): Views<Context> {
  return Object.fromEntries(
    views.map((view) => {
      const { text, parameters } = textOfView(view);
      const options = optionsOf(view);
      if (!hasInstances || !takesArgs(view)) {
        const query = ({ ctx }: { ctx: Context }) => ({ text, values: valuesFor(parameters, ctx.userID) });
        return [view.name, defineView({ query, ...options })];
      }
      const query = ({ args }: { args: InstanceArgs }) => ({ text, values: valuesFor(parameters, userAt(args.user)) });
      return [view.name, defineView({ query, ...options, ...argsOptions })];
    }),
  );
}
