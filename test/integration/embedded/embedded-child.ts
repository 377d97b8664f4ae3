/** Starts an embedded database in a separate process, prints its URL and data directory, and waits to be killed. */
import { type EmbeddedOptions, startEmbedded } from '../../../packages/embedded-postgres/src/start.js';

const { uid, ...options } = JSON.parse(process.argv[2] ?? '{}') as EmbeddedOptions & { uid?: number };
if (uid !== undefined) {
  process.setgroups?.([]);
  process.setgid?.(uid);
  process.setuid?.(uid);
}
const { url, dataDirectory } = await startEmbedded(options);
process.stdout.write(`${JSON.stringify({ url, dataDirectory })}\n`);
setInterval(() => {}, 60_000);
