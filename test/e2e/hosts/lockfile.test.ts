import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const read = (path: string) => JSON.parse(readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8'));

describe.each(['examples/hosts', 'examples/orms'])('the lockfile of %s', (folder) => {
  const { packages } = read(`${folder}/package-lock.json`);

  it('has the dependencies of the package', () => {
    const { dependencies } = read('packages/tidemark/package.json');
    const message = `run \`npm install\` in ${folder} after each change of the dependencies`;
    expect(packages['node_modules/tidemark'].dependencies, message).toEqual(dependencies);
  });

  it('contains no address of a registry', () => {
    const resolved = Object.values<{ readonly resolved?: string }>(packages).map((entry) => entry.resolved ?? '');
    expect(resolved.filter((address) => /^https?:/.test(address))).toEqual([]);
  });
});
