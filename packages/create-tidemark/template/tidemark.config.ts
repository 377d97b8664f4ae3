/** Configures `npx tidemark status`, `doctor` and `migrate`. Views and mutators are the server's, from `sync.ts`. */
import { readFile } from 'node:fs/promises';
import { defineConfig } from 'tidemark';
import { authenticate, mutators, views } from './server/sync.ts';

const schema = new URL('server/schema.sql', import.meta.url);

export default defineConfig({
  views,
  mutators,
  authenticate,
  prepareEmbedded: async (client) => client.query(await readFile(schema, 'utf8')),
});
