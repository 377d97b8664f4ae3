import type { StandardSchemaV1 } from '@standard-schema/spec';
import { describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { handWritten } from '../../../../../test/integration/openapi/schemas.js';
import { refusesJson, verdictOf } from './verdict.js';

const validating = (validate: StandardSchemaV1['~standard']['validate']): StandardSchemaV1 => ({
  '~standard': { version: 1, vendor: 'hand', validate },
});

describe('a validator', () => {
  it('can accept a value and transform it', async () => {
    expect(await verdictOf(z.coerce.number(), '5')).toEqual({ isAccepted: true, value: 5 });
    expect(await verdictOf(z.string().transform(async (text) => text.length), 'abc')).toEqual({
      isAccepted: true,
      value: 3,
    }); // biome-ignore format: two rows
  });

  it.each<[string, StandardSchemaV1]>([
    ['refuses', z.number()],
    ['throws', validating(() => { throw new Error('no'); })],
    ['rejects', validating(async () => { throw new Error('no'); })],
  ])('does not accept a value if it %s', async (_, validator) => {
    expect(await verdictOf(validator, 'x')).toEqual({ isAccepted: false });
  }); // biome-ignore format: a row each

  it('does not accept a value if it does not respond within a second', async () => {
    vi.useFakeTimers();
    try {
      const verdict = verdictOf(
        validating(() => new Promise(() => {})),
        'x',
      );
      await vi.advanceTimersByTimeAsync(999);
      expect(vi.getTimerCount()).toBe(1);
      await vi.advanceTimersByTimeAsync(1);
      expect(await verdict).toEqual({ isAccepted: false });
    } finally {
      vi.useRealTimers();
    }
  });

  it('leaves no timer', async () => {
    vi.useFakeTimers();
    try {
      await verdictOf(z.string(), 'x');
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });
});

it('refusesJson is true only if a validator accepts no kind of JSON value', async () => {
  expect(await refusesJson(z.undefined())).toBe(true);
  for (const kind of ['null', 'false', '0', '""', '[]', '{}']) {
    expect(await refusesJson(handWritten((value) => JSON.stringify(value) === kind))).toBe(false);
  }
});
