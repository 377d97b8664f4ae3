import { describe, expect, it } from 'vitest';
import { MutatorError, Problem } from './errors.js';

describe('MutatorError', () => {
  it('has a status and details', () => {
    expect(new MutatorError('no')).toMatchObject({ message: 'no', status: 400, details: undefined });
    expect(new MutatorError('no', { status: 409, details: [1] })).toMatchObject({ status: 409, details: [1] });
  });

  it.each([200, 399, 407, 408, 421, 500, 503, 404.5, Number.NaN])('rejects the status %d', (status) => {
    expect(() => new MutatorError('no', { status })).toThrow(RangeError);
  });
});

describe('Problem', () => {
  it('has a Retry-After header if a retry can succeed', () => {
    expect(new Problem('unavailable', '').headers).toEqual({ 'Retry-After': '1' });
    expect(new Problem('too-many-requests', '', { headers: { 'Retry-After': '60' } }).headers).toEqual({
      'Retry-After': '60',
    });
    expect(new Problem('forbidden', '').headers).toEqual({});
  });
});
