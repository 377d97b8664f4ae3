import { describe, expect, it } from 'vitest';
import { silent } from '../../../../test/support/log.js';
import type { ResolvedViews } from '../schema/schema-cache.js';
import type { ResetReason } from './plan.js';
import { PrimaryState } from './primary-state.js';
import { pullSession } from './session.js';

const session = pullSession(
  { clientGroupID: 'g', profileID: 'p', schemaVersion: '', cookie: null },
  { context: { userID: 'u' }, requestID: '', log: silent },
);
const primaryWith = (viewsDigest: string) =>
  new PrimaryState(undefined, { resolve: async () => ({ viewsDigest }) as ResolvedViews });

describe('a standby', () => {
  it.each<ResetReason>(['size', 'horizon', 'truncate', 'inconsistent'])(
    'may reset for the reason %s',
    async (reason) => {
      expect(await primaryWith('other').mayReset(session, reason, 'views')).toBe(true);
    },
  );

  it.each<ResetReason>(['cookie', 'database', 'future', 'failure'])(
    'may not reset for the reason %s',
    async (reason) => {
      expect(await primaryWith('views').mayReset(session, reason, 'views')).toBe(false);
    },
  );

  it('may reset for other views if the primary has them too', async () => {
    expect(await primaryWith('new').mayReset(session, 'views', 'new')).toBe(true);
    expect(await primaryWith('new').mayReset(session, 'views', 'old')).toBe(false);
  });

  it('must show only what the cookie has seen if the primary does not answer', () => {
    const requirement = { since: undefined, timeline: undefined, xids: [] };
    expect(primaryWith('views').requirementOf(session, undefined)).toEqual(requirement);
  });
});
