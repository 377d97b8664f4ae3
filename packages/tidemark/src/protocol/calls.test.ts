import { describe, expect, it } from 'vitest';
import { callFingerprint, decodeBatch, encodeAnswer, maxBatchLength } from './calls.js';

describe('decodeBatch', () => {
  it('returns names and args, and drops unknown fields', () => {
    expect(decodeBatch([{ name: 'a.b', args: [1], more: 2 }, { name: '' }])).toEqual([
      { name: 'a.b', args: [1] },
      { name: '', args: undefined },
    ]);
  });

  it('accepts as many calls as one transaction may contain', () => {
    expect(decodeBatch(Array(maxBatchLength).fill({ name: 'a' }))).toHaveLength(1_000);
  });

  it.each<[message: string, entries: readonly unknown[]]>([
    ['A batch must have at most 1000 calls', Array(maxBatchLength + 1).fill({ name: 'a' })],
    ['entry 1 must be a JSON object', [{ name: 'a' }, null]],
    ['name of entry 0 must be a string', [{ args: {} }]],
    ['name of entry 0 must be a string', [Object.create({ name: 'a' })]],
  ])('throws "%s" (case %#)', (message, entries) => {
    expect(() => decodeBatch(entries)).toThrow(expect.objectContaining({ code: 'malformed-request', message }));
  });
});

it.each<[result: string | undefined, rolledBack: boolean, text: string]>([
  [undefined, false, '{"ok":true}'],
  ['null', false, '{"ok":true,"result":null}'],
  ['[1]', true, '{"ok":true,"rolledBack":true,"result":[1]}'],
  [undefined, true, '{"ok":true,"rolledBack":true}'],
])('the answer with the result %s and rolledBack %s is encoded as %s', (result, rolledBack, text) => {
  expect(encodeAnswer(result, rolledBack)).toBe(text);
});

describe('callFingerprint', () => {
  const of = (args: unknown) => callFingerprint({ kind: 'call', call: { name: 'a', args } });

  it('does not depend on the order of keys, at any depth', () => {
    const one = of({ b: [{ y: null, x: 1, z: 2 }], a: 's', c: 3 });
    expect(of({ c: 3, a: 's', b: [{ z: 2, x: 1, y: null }] })).toBe(one);
    expect(of({ a: 's', b: [{ x: 1, z: 2, y: null }], c: 3 })).toBe(one);
    expect(one).toMatch(/^[\w-]{43}$/);
  });

  it('differs for different calls', () => {
    const args = [undefined, null, {}, [], 0, '', 'a', { a: 1 }, { a: '1' }, { a: 2 }, { b: 1 }, [1, 2], [2, 1]];
    const all = [
      ...args.map(of),
      callFingerprint({ kind: 'call', call: { name: 'b', args: null } }),
      callFingerprint({ kind: 'batch', calls: [{ name: 'a', args: null }] }),
    ];
    expect(new Set(all).size).toBe(all.length);
  });
});
