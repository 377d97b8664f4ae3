import { expect, it } from 'vitest';
import { idleSince, leastRecent } from './closing.js';

const resident = (name: string, usedAt: number, isBusy = false) => ({ name, usedAt, isBusy });
const residents = [resident('a', 30), resident('b', 10, true), resident('c', 20), resident('d', 90)];
const namesOf = (found: readonly { readonly name: string }[]) => found.map(({ name }) => name);

it('closes those that have been idle for long enough, but none that is busy', () => {
  expect(namesOf(idleSince(residents, 100, 70))).toEqual(['a', 'c']);
  expect(namesOf(idleSince(residents, 100, 71))).toEqual(['c']);
  expect(namesOf(idleSince(residents, 100, 200))).toEqual([]);
});

it('makes room by closing the one that has been idle for longest', () => {
  expect(leastRecent(residents)?.name).toBe('c');
  expect(leastRecent([resident('a', 1, true), resident('b', 2, true)])).toBeUndefined();
  expect(leastRecent([])).toBeUndefined();
});
