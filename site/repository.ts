/** The project's repository on the web, which shows the files that are not part of the site. */
import { readFileSync, statSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { docs } from './pages.js';

const root = fileURLToPath(new URL('..', import.meta.url));

interface Manifest {
  readonly description: string;
  readonly repository: { readonly url: string };
}

export const manifest: Manifest = JSON.parse(readFileSync(resolve(root, 'packages/tidemark/package.json'), 'utf8'));

export const repository: string = manifest.repository.url.replace(/^git\+|\.git$/g, '');

/**
 * Returns where the repository shows the file or folder that a document of docs/ links to, or undefined if that is
 * in docs/ or elsewhere on the web.
 *
 * @throws if the file does not exist.
 */
export function repositoryLink(document: string, link: string): string | undefined {
  if (/^([a-z]+:|[#/])/i.test(link)) return undefined;
  const [, path = '', anchor = ''] = /^([^#]*)(#.*)?$/.exec(link)!;
  const file = resolve(dirname(document), path);
  if (!relative(docs, file).startsWith('..')) return undefined;
  const kind = statSync(file).isDirectory() ? 'tree' : 'blob';
  return `${repository}/${kind}/main/${relative(root, file).replaceAll('\\', '/')}${anchor}`;
}
