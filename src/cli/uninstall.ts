import { SetupError } from '../errors.js';
import { uninstall } from '../migrate.js';
import { withExistingDatabase } from './database.js';
import { say } from './say.js';

/** Removes Tidemark from the database, if the user means it. */
export async function uninstallCommand({ yes }: { readonly yes?: boolean }): Promise<void> {
  if (!yes) {
    throw new SetupError(
      'This removes the schema "tidemark" with the change log and all that is known of clients, and the triggers on your tables. ' +
        'Your tables and their rows stay. Every client starts anew afterwards. Run it again with --yes.',
    );
  }
  await withExistingDatabase(async ({ url }) => {
    await uninstall({ database: url });
    say('Tidemark is removed. Your tables are as they were.');
  });
}
