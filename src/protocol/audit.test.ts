import { expect, it } from 'vitest';
import { decodeAudit, encodeAudit, sampleOf } from './audit.js';
import { toChecksum } from './checksum.js';
import { parseSnapshot } from './snapshot.js';

it.each(['10:20:10,15', '10:10:', '10:20:~MzTQMTQCAA'])(
  'an audit since %s is the same after its way through a cookie',
  (since) => {
    const checksums = [toChecksum([[3, 2, '7', '25']]), toChecksum([])];
    const audit = { deltas: 9, since: parseSnapshot(since)!, checksums };
    expect(decodeAudit(encodeAudit(audit))).toEqual(audit);
  },
);

it('a user without views has nothing to be audited', () => {
  const audit = { deltas: 0, since: parseSnapshot('1:1:')!, checksums: [] };
  expect(decodeAudit(encodeAudit(audit))).toEqual(audit);
});

it('samples spread over all client groups, and differ with the secret', () => {
  const samples = Array.from({ length: 10_000 }, (_, i) => sampleOf(`group ${i}`, 'secret'));
  const below = (fraction: number) => samples.filter((sample) => sample < fraction).length / samples.length;
  for (const fraction of [0.01, 0.1, 0.5, 0.9]) expect(below(fraction)).toBeCloseTo(fraction, 1.5);
  expect(Math.max(...samples)).toBeLessThan(1);
  expect(sampleOf('group 1', 'secret')).toBe(samples[1]);
  expect(sampleOf('group 1', 'another')).not.toBe(samples[1]);
});
