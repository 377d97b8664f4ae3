/** `serve.ts first`: a server of a version of the application, in its own process. */
import {
  addressFromEnvironment,
  explainFailure,
  listen,
  logFromEnvironment,
  openDatabase,
} from '../../../packages/tidemark/src/node.js';
import { createSync } from '../../../packages/tidemark/src/server.js';
import { applications, optionsOf } from './application.js';

const [, , name] = process.argv;

try {
  const log = logFromEnvironment();
  const { url: database } = await openDatabase({ log });
  const sync = await createSync({ ...optionsOf(applications[name as keyof typeof applications]), database, log });
  const { url } = await listen(sync, { log, ...addressFromEnvironment(), drainDelayMs: 0 });
  process.stderr.write(`Listening at ${url}\n`);
} catch (error) {
  process.stderr.write(`${explainFailure(error)}\n`);
  process.exit(1);
}
