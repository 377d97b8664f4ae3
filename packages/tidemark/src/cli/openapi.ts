import type { Config } from '../config.js';
import type { DocumentResult } from '../openapi/document.js';
import { defineMutators } from '../registry/mutators.js';
import { toMutators } from '../registry/registry.js';
import { describeRest } from '../rest.js';
import { listViews } from '../view/listed-views.js';
import { loadConfig } from './config.js';
import type { Terminal } from './terminal.js';

/** Prints the OpenAPI document of the views and mutators. Uses no database, so only declared row types appear. */
export async function openapiCommand(
  { print, say }: Terminal,
  { config: path }: { readonly config?: string },
): Promise<void> {
  const { document, warnings } = await documentOf(await loadConfig(path));
  for (const warning of warnings) say(warning);
  print(`${JSON.stringify(document, null, 2)}\n`);
}

function documentOf(config: Config): Promise<DocumentResult> {
  const { mutators = defineMutators({}), validators, views, rest, basePath } = config;
  const described = listViews(views);
  return describeRest({ ...rest, basePath, mutators: toMutators(mutators, validators), views: described }, true);
}
