import { expect, it } from 'vitest';
import { toChecksum } from './checksum.js';
import { decodeConsistencyCheck, encodeConsistencyCheck, sampleOf } from './consistency-check.js';
import { parseSnapshot } from './snapshot.js';

it.each(['10:20:10,15', '10:10:', '10:20:~MzTQMTQCAA'])(
  'a consistency check since %s survives encoding in a cookie',
  (since) => {
    const checksums = [toChecksum([[3, 2, '7', '25']]), toChecksum([])];
    const check = { deltas: 9, since: parseSnapshot(since)!, checksums };
    expect(decodeConsistencyCheck(encodeConsistencyCheck(check))).toEqual(check);
  },
);

it('a consistency check without views survives encoding in a cookie', () => {
  const check = { deltas: 0, since: parseSnapshot('1:1:')!, checksums: [] };
  expect(decodeConsistencyCheck(encodeConsistencyCheck(check))).toEqual(check);
});

it('samples are evenly distributed over client groups, and depend on the secret', () => {
  const samples = Array.from({ length: 10_000 }, (_, i) => sampleOf(`group ${i}`, 'secret'));
  const below = (fraction: number) => samples.filter((sample) => sample < fraction).length / samples.length;
  for (const fraction of [0.01, 0.1, 0.5, 0.9]) expect(below(fraction)).toBeCloseTo(fraction, 1.5);
  expect(Math.max(...samples)).toBeLessThan(1);
  expect(sampleOf('group 1', 'secret')).toBe(samples[1]);
  expect(sampleOf('group 1', 'another')).not.toBe(samples[1]);
});
