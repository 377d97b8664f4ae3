import fc from 'fast-check';
import { expect, it } from 'vitest';
import { assign } from './assignment.js';

const names = fc.uniqueArray(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 6 });
const all = (list: readonly string[]) => list.map((name) => ({ name }));

it('a key is assigned to the same replica, whatever the order of the replicas', () => {
  fc.assert(
    fc.property(fc.string(), names, (key, list) => {
      expect(assign(key, all(list))!.name).toBe(assign(key, all(list.toReversed()))!.name);
    }),
  );
});

it('a key keeps its replica when another one is removed', () => {
  fc.assert(
    fc.property(fc.string(), names, fc.nat(), (key, list, which) => {
      const { name } = assign(key, all(list))!;
      const removed = list[which % list.length]!;
      if (removed !== name) expect(assign(key, all(list.filter((one) => one !== removed)))!.name).toBe(name);
    }),
  );
});

it('each replica gets its share of the keys', () => {
  const counts = new Map<string, number>();
  for (let i = 0; i < 3000; i++) {
    const { name } = assign(`group ${i}`, all(['a:5432', 'b:5432', 'c:5432']))!;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  expect(Math.min(...counts.values())).toBeGreaterThan(850);
});

it('a key is assigned to no replica if there is none', () => {
  expect(assign('key', [])).toBeUndefined();
});
