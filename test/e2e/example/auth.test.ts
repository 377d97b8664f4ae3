import { describe, expect, it } from 'vitest';
import { authenticate } from '../../../examples/tasks/src/auth.js';

describe('the demo authentication', () => {
  const user = (authorization?: string) =>
    authenticate(new Request('http://localhost/', authorization === undefined ? {} : { headers: { authorization } }));

  it('accepts any name as a token', () => {
    expect(user('Bearer ann')).toEqual({ userID: 'ann' });
    expect(user('bearer a-b_9')).toEqual({ userID: 'a-b_9' });
  });

  it.each([undefined, '', 'ann', 'Basic ann', 'Bearer', 'Bearer  ann', 'Bearer ann ben', 'Bearer Ann', 'Bearer 1x'])(
    'rejects the header %j',
    (authorization) => {
      expect(user(authorization)).toBeNull();
    },
  );

  it('rejects a name of more than 32 characters', () => {
    expect(user(`Bearer ${'a'.repeat(32)}`)).not.toBeNull();
    expect(user(`Bearer ${'a'.repeat(33)}`)).toBeNull();
  });
});
