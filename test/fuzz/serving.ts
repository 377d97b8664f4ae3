/** The code under test over a case's database, with those of its views that it takes. */

import type { Logger } from '../../src/log.js';
import type { Sync } from '../../src/server.js';
import { defineView } from '../../src/view/define.js';
import type { Code } from '../oracle/code.js';
import type { CaseDatabase, GatedPool } from './database.js';
import { Difference } from './difference.js';
import { type FuzzView, textOfView } from './view.js';

export interface Context {
  readonly userID: string;
}

export interface Served {
  readonly sync: Sync;
  readonly pool: GatedPool;
}

export interface ServingOptions {
  readonly code: Code;
  readonly database: CaseDatabase;
  /** Told of a view that is refused, with the message. */
  readonly onRefused: (view: FuzzView, message: string) => void;
  readonly onError: (message: string, error: unknown) => void;
}

const refusals = [
  /^The view "(.*?)" cannot be served: (.*)$/s,
  /^The changes of the view "(.*?)" cannot be computed: (.*)$/s,
];

/** A server of the views that can be served; each other one is told of. Captures what they read if `migrates`. */
export async function servable(
  options: ServingOptions,
  views: readonly FuzzView[],
  migrates: boolean,
): Promise<{ views: readonly FuzzView[]; served: Served }> {
  let left = views;
  for (;;) {
    try {
      if (migrates) await options.code.migrate({ database: options.database.url, views: toViews(left) });
      return { views: left, served: await serve(options, left) };
    } catch (error) {
      const refused = refusedBy(error as Error, left);
      if (!refused) throw new Difference('setup', (error as Error).message);
      options.onRefused(refused.view, refused.message);
      left = left.filter((view) => view !== refused.view);
    }
  }
}

function refusedBy(error: Error, views: readonly FuzzView[]): { view: FuzzView; message: string } | undefined {
  for (const pattern of refusals) {
    const match = pattern.exec(error.message);
    const view = match && views.find(({ name }) => name === match[1]);
    if (view) return { view, message: match[2]! };
  }
  return undefined;
}

/** @param settings for the planner */
export async function serve(
  { code, database, onError }: ServingOptions,
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
    views: toViews(views),
    authenticate,
    log,
    pollIntervalMs: 60_000,
  });
  database.onClose(() => sync.close());
  return { sync, pool };
}

function toViews(views: readonly FuzzView[]) {
  return Object.fromEntries(
    views.map((view) => {
      const { text, parameters } = textOfView(view);
      const query = ({ ctx }: { ctx: Context }) => ({
        text,
        values: parameters.map(({ values }) => values[ctx.userID === 'user 1' ? 1 : 0]),
      });
      return [
        view.name,
        defineView<Context, Record<string, unknown>>({ query, key: view.key.map(({ name }) => name) }),
      ];
    }),
  );
}
