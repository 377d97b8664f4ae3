import type { Config } from '../config.js';
import { loadConfig } from './config.js';
import { say } from './say.js';

interface Described {
  readonly document: object;
  /** In sentences. */
  readonly warnings: readonly string[];
}

/** Prints the OpenAPI document of the mutators. Needs no database. */
export async function openapiCommand({ config: path }: { readonly config?: string }): Promise<void> {
  const { document, warnings } = await documentOf(await loadConfig(path));
  for (const warning of warnings) say(warning);
  process.stdout.write(`${JSON.stringify(document, null, 2)}\n`);
}

// TO WIRE: the one place that makes the document. Until then it has the names of the mutators alone.
async function documentOf({ mutators = new Map() }: Config): Promise<Described> {
  const paths = [...mutators.keys()].map((name) => [`/api/mutators/${name.replaceAll('.', '/')}`, { post: {} }]);
  const document = {
    openapi: '3.1.0',
    info: { title: 'Mutators', version: '0.0.0' },
    paths: Object.fromEntries(paths),
  };
  return { document, warnings: [] };
}
