/** A server of the example that also serves a page with a client, for Chromium. */
import type pg from 'pg';
import { rolldown } from 'rolldown';
import { authenticate } from '../../../examples/tasks/src/auth.js';
import { mutators } from '../../../examples/tasks/src/mutators.js';
import { createSchema } from '../../../examples/tasks/src/schema.js';
import { createSync, migrate, type UserContext, type Views } from '../../../packages/tidemark/src/index.js';
import { builtClient } from '../../support/built.js';
import { memoryLog, silent } from '../../support/log.js';
import { views as wholeViews } from '../../support/whole-views.js';
import { listenWithFiles, type ServedFiles } from './served-files.js';

/** A page, and the source of its bundle `/client.js`. */
export interface ClientPage {
  readonly html: string;
  readonly input: string;
  /** Default: whole views of the example's tables. */
  readonly views?: Views<UserContext>;
}

/** The input of a page that uses nothing but `@tidemark/client`. */
export const clientInput = `${builtClient}/index.js`;

export interface ClientServer {
  readonly url: string;
  close(): Promise<void>;
}

/** @param database an empty database */
export async function startClientServer(
  database: { readonly url: string; readonly pool: pg.Pool },
  page: ClientPage,
): Promise<ClientServer> {
  const { views = wholeViews } = page;
  await createSchema(database.pool);
  await migrate({ database: database.url, views, log: silent });
  const { log } = memoryLog();
  const sync = await createSync({ database: database.url, views, mutators, authenticate, log });
  // React checks more in development.
  const define = { 'process.env.NODE_ENV': '"development"' };
  const built = await rolldown({ input: page.input, platform: 'browser', tsconfig: false, transform: { define } });
  const { code } = (await built.generate({ format: 'esm' })).output[0];
  const files: ServedFiles = {
    '/': [page.html, 'text/html'],
    '/client.js': [code, 'text/javascript'],
  };
  const server = await listenWithFiles(sync, files, log);
  return {
    url: server.url,
    close: () => server.close(),
  };
}
