import { describe, expect, it } from 'vitest';
import { isRetryable, isTransient } from './sqlstate.js';

const coded = (code: string, cause?: unknown) => Object.assign(new Error('x', { cause }), { code });

describe('isTransient', () => {
  it.each([
    '08006',
    '08P01',
    '53100',
    '53300',
    '57014',
    '57P01',
    '57P03',
    '58030',
    '40001',
    '40003',
    '40P01',
    '55P03',
    '55006',
    '25006',
    '25P03',
    '25P04',
    'ECONNREFUSED',
    'ECONNRESET',
    'EPIPE',
    'ETIMEDOUT',
    'ENOTFOUND',
    'EAI_AGAIN',
  ])('accepts %s', (code) => {
    expect(isTransient(coded(code))).toBe(true);
    expect(isTransient(new Error('wrapped', { cause: coded('P0001', coded(code)) }))).toBe(true);
  });

  it.each(['40002', '23505', '22P05', '42P01', '25001', '54001', 'P0001', 'XX000', '57', '08', 'ENOENT', ''])(
    'rejects %j',
    (code) => expect(isTransient(coded(code))).toBe(false),
  );

  it.each(['40001', '55P03', '57014'])('accepts %s as wrapped by Prisma', (originalCode) => {
    const cause = { kind: 'TransactionWriteConflict', originalCode };
    const driverAdapterError = Object.assign(new Error('x'), { cause });
    expect(isTransient(Object.assign(coded('P2034'), { meta: { modelName: 'Todo', driverAdapterError } }))).toBe(true);
    const refused = { ...driverAdapterError, cause: { ...cause, originalCode: '23505' } };
    expect(isTransient(Object.assign(coded('P2002'), { meta: { driverAdapterError: refused } }))).toBe(false);
  });

  it.each([
    'Connection terminated unexpectedly',
    'Connection terminated due to connection timeout',
    'timeout exceeded when trying to connect',
    'Query read timeout',
    'Client has encountered a connection error and is not queryable',
  ])('accepts an error without a code: %s', (message) => expect(isTransient(new Error(message))).toBe(true));

  it('rejects any other value without throwing', () => {
    const circular: { cause?: unknown } = {};
    circular.cause = circular;
    const hostile = new Proxy(
      {},
      {
        get: () => {
          throw new Error('no');
        },
      },
    );
    for (const thrown of [null, undefined, 0, '57P01', Symbol('x'), circular, hostile, Object.create(null), () => {}]) {
      expect(isTransient(thrown)).toBe(false);
    }
  });
});

it('isRetryable accepts only serialization failures and deadlocks', () => {
  expect(['40001', '40P01', '40003', '55P03', '57014'].map((code) => isRetryable(coded(code)))).toEqual([
    true,
    true,
    false,
    false,
    false,
  ]);
  expect(isRetryable(new Error('x', { cause: coded('40001') }))).toBe(true);
});
