import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { maxInstanceBytes, openParameters, sealParameters, type ViewTexts } from './parameters.js';

const views: ViewTexts = [['ann', 'list 1'], [], ['ann'], ['ann', null, '']];
const sealed = sealParameters(views, 'ann', ['secret'])!;

describe('parameters in a cookie', () => {
  it('can be read with the secret that sealed them', () => {
    expect(openParameters(sealed, 'ann', ['secret'])).toEqual(views);
    expect(openParameters(sealed, 'ann', ['newer', 'secret'])).toEqual(views);
    expect(openParameters(sealed, 'ann', ['newer'])).toBeUndefined();
  });

  it('can be read only for their user', () => {
    expect(openParameters(sealed, 'ben', ['secret'])).toBeUndefined();
    expect(sealParameters(views, 'ben', ['secret'])).not.toBe(sealed);
  });

  it('cannot be read or changed without the secret', () => {
    expect(Buffer.from(sealed, 'base64url').toString('latin1')).not.toMatch(/ann|list/);
    const bytes = Buffer.from(sealed, 'base64url');
    for (let i = 0; i < bytes.length; i++) {
      const changed = Buffer.from(bytes);
      changed[i]! ^= 1;
      expect(openParameters(changed.toString('base64url'), 'ann', ['secret'])).toBeUndefined();
    }
    for (const short of ['', 'AA', sealed.slice(0, 30)]) {
      expect(openParameters(short, 'ann', ['secret'])).toBeUndefined();
    }
  });

  it('have the same text if they are equal, and different initialization vectors otherwise', () => {
    expect(sealParameters(views, 'ann', ['secret'])).toBe(sealed);
    const ivOf = (text: string) => text.slice(0, 16);
    const others = Array.from({ length: 100 }, (_, i) => sealParameters([[String(i)]], 'ann', ['secret'])!);
    expect(new Set([sealed, ...others].map(ivOf)).size).toBe(101);
  });

  it('are compressed if they are those of many instances', () => {
    const ids = Array.from({ length: 200 }, () => randomUUID());
    const instances: ViewTexts = [[JSON.stringify(ids), JSON.stringify(ids.map(() => 'ann'))], ['ann']];
    expect(sealParameters(instances, 'ann', ['secret'])).toBeUndefined();
    const many = sealParameters(instances, 'ann', ['secret'], maxInstanceBytes)!;
    expect(many.length).toBeLessThan(6_500);
    expect(openParameters(many, 'ann', ['secret'])).toEqual(instances);
    expect(sealParameters(instances, 'ann', ['secret'], 1_000)).toBeUndefined();
  });

  it('are short if many views share them, and left out if they are too long', () => {
    const id = '01234567-89ab-cdef-0123-456789abcdef';
    const own = Array.from({ length: 30 }, () => [id]);
    expect(openParameters(sealParameters(own, id, ['secret'])!, id, ['secret'])).toEqual(own);
    expect(sealParameters(own, id, ['secret'])!.length).toBeLessThan(304);
    // Brackets, quotes and the index take ten bytes.
    expect(sealParameters([['x'.repeat(190)]], 'ann', ['secret'])).toBeDefined();
    expect(sealParameters([['x'.repeat(191)]], 'ann', ['secret'])).toBeUndefined();
  });
});
