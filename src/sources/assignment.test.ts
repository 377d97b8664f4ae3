import fc from 'fast-check';
import { expect, it } from 'vitest';
import { assigned } from './assignment.js';

const names = fc.uniqueArray(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 6 });
const all = (list: readonly string[]) => list.map((name) => ({ name }));

it('a key belongs to the same one, in whatever order they come', () => {
  fc.assert(
    fc.property(fc.string(), names, (key, list) => {
      expect(assigned(key, all(list))!.name).toBe(assigned(key, all(list.toReversed()))!.name);
    }),
  );
});

it('if another one goes, a key stays where it is', () => {
  fc.assert(
    fc.property(fc.string(), names, fc.nat(), (key, list, which) => {
      const { name } = assigned(key, all(list))!;
      const gone = list[which % list.length]!;
      if (gone !== name) expect(assigned(key, all(list.filter((one) => one !== gone)))!.name).toBe(name);
    }),
  );
});

it('each gets its share of the keys', () => {
  const counts = new Map<string, number>();
  for (let i = 0; i < 3000; i++) {
    const { name } = assigned(`group ${i}`, all(['a:5432', 'b:5432', 'c:5432']))!;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  expect(Math.min(...counts.values())).toBeGreaterThan(850);
});

it('a key belongs nowhere if there is none', () => {
  expect(assigned('key', [])).toBeUndefined();
});
