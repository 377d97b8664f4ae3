import { openPool } from '../db/pg.js';
import { rotateSecret } from '../schema/secrets.js';
import { defaultRetention } from '../store/retention.js';
import { loadConfig } from './config.js';
import { withExistingDatabase } from './database.js';
import type { Terminal } from './terminal.js';

/** Creates a new secret for signing cookies. */
export async function rotateSecretCommand(
  terminal: Terminal,
  { config: path }: { readonly config?: string },
): Promise<void> {
  const { retentionSeconds = defaultRetention.seconds } = await loadConfig(path);
  await withExistingDatabase(terminal, async ({ url }) => {
    const db = openPool(url);
    try {
      await rotateSecret(db, retentionSeconds);
    } finally {
      await db.close();
    }
  });
  terminal.say('Cookies are signed with a new secret from the next minute on. Clients are not reset.');
}
