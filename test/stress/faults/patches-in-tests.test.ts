/** Verifies that each patch in or beside a long test or a detector fits the sources, so that a renaming fails here immediately. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { expect, it } from 'vitest';
import { type Patch, patched } from '../../support/patch.js';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const files = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
  .filter((file) => /^(integration|stress)\/.*\.ts$/.test(file))
  .filter((file) => file.startsWith('stress/detectors/') || !/(?<!\.long)\.test\.ts$/.test(file))
  .map((file) => join('test', file));
/** Patches of the server's sources. Patches of compiled files (`.js`) apply to `dist`. */
const found = files.flatMap((file) => patchesIn(file).map((patch) => ({ in: file, ...patch })));

it('the tests contain at least 30 patches', () => {
  expect(found.length).toBeGreaterThanOrEqual(30);
});

it.each(found)('the patch of $file in $in fits the sources: $find', (patch) => {
  const part = patch.file.endsWith('.js') ? 'dist' : 'src';
  const sound = readFileSync(join(root, 'packages/tidemark', part, patch.file), 'utf8');
  expect(patched(sound, patch)).not.toBe(sound);
});

/** Finds the object literals of a file that have the properties of a patch. */
function patchesIn(file: string): Patch[] {
  const source = ts.createSourceFile(file, readFileSync(join(root, file), 'utf8'), ts.ScriptTarget.Latest, true);
  const patches: Patch[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isObjectLiteralExpression(node)) {
      const texts = new Map(
        node.properties.flatMap((property) => {
          if (!ts.isPropertyAssignment(property) || !ts.isStringLiteralLike(property.initializer)) return [];
          return [[property.name.getText(), property.initializer.text] as const];
        }),
      );
      const [path, find, replace] = ['file', 'find', 'replace'].map((name) => texts.get(name));
      if (path !== undefined && find !== undefined && replace !== undefined) {
        patches.push({ file: path, find, replace });
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return patches;
}
