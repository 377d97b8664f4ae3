import { openPool } from '../db/pg.js';
import { collectStatus } from './collect-status.js';
import { loadConfig } from './config.js';
import { withExistingDatabase } from './database.js';
import { formatStatus } from './format-status.js';

/** Prints how the database and the views stand. Sets exit code 1 when something is wrong. */
export async function statusCommand(options: { readonly config?: string; readonly json?: boolean }): Promise<void> {
  const config = await loadConfig(options.config);
  const status = await withExistingDatabase(async ({ url }) => {
    const db = openPool(url);
    try {
      return await collectStatus(db, config);
    } finally {
      await db.close();
    }
  });
  process.stdout.write(options.json ? `${JSON.stringify(status, null, 2)}\n` : formatStatus(status));
  if (status.problems.length > 0) process.exitCode = 1;
}
