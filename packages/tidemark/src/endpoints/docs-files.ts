/**
 * The files that the documentation page loads, from `assets/`. In the package, the build replaces this module by one
 * that imports their contents, because bundlers include only modules.
 */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

/** The name of a file of the page. Its path is below the page: `…/docs/swagger-ui.css`. */
export type DocsFile =
  | 'swagger-ui.css'
  | 'docs-page.css'
  | 'swagger-ui-bundle.js'
  | 'docs-page.js'
  // The bundle's first line refers to this file for its licences.
  | 'swagger-ui-bundle.js.LICENSE.txt';

/** Reads one of the page's files from the folder in which the build puts them. */
export async function readDocsFile(
  name: DocsFile,
  folder: URL = new URL('../../assets/', import.meta.url),
): Promise<string> {
  const file = new URL(name, folder);
  return readFile(file, 'utf8').catch((cause: unknown) => {
    throw new Error(`The documentation page needs ${fileURLToPath(file)}: run npm run build`, { cause });
  });
}
