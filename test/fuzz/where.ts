/** WHERE. */
import { list, type Tree } from './tree.js';
import type { Site } from './world.js';

export function where(inner: Site): Tree {
  const { choices, grammar } = inner.world;
  const count = choices.weighted([
    [25, 0],
    [50, 1],
    [20, 2],
    [5, 3],
  ]);
  return list(
    Array.from({ length: count }, () => grammar.condition(inner)),
    { before: ' where ', by: ' and ' },
  );
}
