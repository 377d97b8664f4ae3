import { expect, it } from 'vitest';
import { describePull } from '../../examples/tasks/web/src/last-pull.js';

const put = { op: 'put', key: 'list/l', value: {} } as const;
const answer = (patch: readonly (typeof put | { op: 'clear' })[]) => ({
  cookie: { order: 2 },
  lastMutationIDChanges: {},
  patch: [...patch],
});

it.each([
  [null, [put], { kind: 'first pull', ops: 1 }],
  [null, [], { kind: 'first pull', ops: 0 }],
  [{ order: 1 }, [], { kind: 'no change', ops: 0 }],
  [{ order: 1 }, [put, put], { kind: 'delta', ops: 2 }],
  [{ order: 1 }, [{ op: 'clear' as const }, put], { kind: 'reset', ops: 2 }],
  [{ order: 1 }, [{ op: 'clear' as const }], { kind: 'reset', ops: 1 }],
])('tells what a pull with the cookie %j and the patch %j was', (cookie, patch, expected) => {
  expect(describePull({ cookie }, answer(patch), 5)).toEqual({ ...expected, ms: 5 });
});

it('has nothing to say about an answer without a patch', () => {
  expect(describePull({ cookie: null }, { error: 'ClientStateNotFound' }, 5)).toBeUndefined();
  expect(describePull({ cookie: null }, undefined, 5)).toBeUndefined();
});
