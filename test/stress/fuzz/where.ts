/** WHERE. */
import { list, type Tree } from './tree.js';
import type { Site } from './world.js';

export function where(inner: Site): Tree {
  const { choices, grammar } = inner.world;
  const count = choices.weighted([
    [35, 0],
    [47, 1],
    [15, 2],
    [3, 3],
  ]);
  return list(
    Array.from({ length: count }, () => grammar.condition(inner)),
    { before: ' where ', by: ' and ' },
  );
}
