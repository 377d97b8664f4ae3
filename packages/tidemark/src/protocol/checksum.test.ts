import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  add,
  type CellFields,
  type Checksum,
  decodeChecksum,
  differenceOf,
  encodeChecksum,
  toChecksum,
} from './checksum.js';

/** Computes a checksum as the SQL does: each row goes into one of the eight cells of each of three groups. */
function checksumOf(rows: readonly number[], weight = 1): Checksum {
  const cells = new Map<number, [count: number, sum: bigint, squares: bigint]>();
  for (const row of rows) {
    for (const index of [row % 8, 8 + (Math.floor(row / 8) % 8), 16 + (Math.floor(row / 64) % 8)]) {
      const [count, sum, squares] = cells.get(index) ?? [0, 0n, 0n];
      const hash = BigInt(row);
      cells.set(index, [count + weight, sum + BigInt(weight) * hash, squares + BigInt(weight) * hash * hash]);
    }
  }
  return toChecksum(
    [...cells].map(([index, [count, ...sums]]): CellFields => [index, count, `${sums[0]}`, `${sums[1]}`]),
  );
}

const sorted = (rows: readonly number[]) => rows.toSorted((a, b) => a - b);
const hash = fc.nat(2 ** 31 - 1);
/** Distinct rows, so that no row cancels out another. */
const rowSets = fc
  .uniqueArray(hash, { maxLength: 300 })
  .chain((all) => fc.tuple(fc.constant(all), fc.nat(all.length), fc.nat(3), fc.nat(3)))
  .map(([all, from, surplus, missing]) => ({
    both: all.slice(from + surplus + missing).concat(all.slice(0, from)),
    surplus: all.slice(from, from + surplus),
    missing: all.slice(from + surplus, from + surplus + missing),
  }));

describe('a checksum', () => {
  it('can be updated with added and removed rows', () => {
    fc.assert(
      fc.property(rowSets, ({ both, surplus, missing }) => {
        const combined = add(checksumOf([...both, ...surplus]), add(checksumOf(missing), checksumOf(surplus, -1)));
        expect(combined).toEqual(checksumOf([...both, ...missing]));
        expect(differenceOf(combined, checksumOf([...missing, ...both]))).toBeUndefined();
      }),
    );
  });

  it('survives encoding in a cookie', () => {
    fc.assert(
      fc.property(fc.array(hash), fc.constantFrom(1, -1), (rows, weight) => {
        const checksum = checksumOf(rows, weight);
        expect(decodeChecksum(encodeChecksum(checksum))).toEqual(checksum);
      }),
    );
    expect(encodeChecksum(checksumOf([1, 2, 3]))).toMatch(/^[\w-]{640}$/);
  });

  it('differs from the checksum of any other rows', () => {
    fc.assert(
      fc.property(rowSets, ({ both, surplus, missing }) => {
        const difference = differenceOf(checksumOf([...both, ...surplus]), checksumOf([...both, ...missing]));
        expect(difference !== undefined).toBe(surplus.length + missing.length > 0);
      }),
    );
  });

  it('identifies only rows that differ, and all of them if it says so', () => {
    let whole = 0;
    let all = 0;
    fc.assert(
      fc.property(rowSets, ({ both, surplus, missing }) => {
        const difference = differenceOf(checksumOf([...both, ...surplus]), checksumOf([...both, ...missing]));
        if (!difference) return;
        all++;
        expect(surplus).toEqual(expect.arrayContaining([...difference.surplus]));
        expect(missing).toEqual(expect.arrayContaining([...difference.missing]));
        if (!difference.isWhole) return;
        whole++;
        expect(sorted(difference.surplus)).toEqual(sorted(surplus));
        expect(sorted(difference.missing)).toEqual(sorted(missing));
      }),
      { seed: 1, numRuns: 1000 },
    );
    expect(whole / all).toBeGreaterThan(0.95);
  });

  it('identifies a few rows that differ among many', () => {
    const rows = Array.from({ length: 10_000 }, (_, i) => (i * 2_654_435_761) % 2 ** 31);
    const [first, second, ...rest] = rows as [number, number, ...number[]];
    expect(differenceOf(checksumOf(rows), checksumOf(rest))).toEqual({
      surplus: expect.arrayContaining([first, second]),
      missing: [],
      isWhole: true,
    });
    expect(differenceOf(checksumOf(rest), checksumOf([...rest, first]))).toEqual({
      surplus: [],
      missing: [first],
      isWhole: true,
    });
  });

  it('reports if too many rows differ', () => {
    const rows = Array.from({ length: 500 }, (_, i) => (i * 2_654_435_761) % 2 ** 31);
    expect(differenceOf(checksumOf(rows), checksumOf([]))).toEqual({ surplus: [], missing: [], isWhole: false });
  });

  it('identifies a duplicate row, and does not hang if a row occurs three times', () => {
    expect(differenceOf(checksumOf([5, 5, 5]), checksumOf([]))).toMatchObject({ isWhole: false });
    expect(differenceOf(checksumOf([5, 5]), checksumOf([5]))).toEqual({ surplus: [5], missing: [], isWhole: true });
  });
});
