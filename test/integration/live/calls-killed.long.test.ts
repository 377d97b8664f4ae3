/**
 * A call with an idempotency key has its effect once, whatever is killed. For a longer run:
 * `KILLS=2000 npx vitest run test/integration/live/calls-killed.long.test.ts`
 */
import { expect, it } from 'vitest';
import { builtServer } from '../../support/built.js';
import { callWhileKilling } from './killed-calls.js';

const kills = Number(process.env.KILLS ?? 40);

it(
  'each call has its effect once, and one answer, while servers and backends are killed',
  async () => {
    const { faults, log, ...tally } = await callWhileKilling({ code: builtServer, kills, seed: kills });
    if (process.env.KILLS !== undefined) console.log(tally);
    expect(faults).toEqual([]);
    expect(log).toBe('');
    // Otherwise, the kills have tested nothing.
    expect(tally.killedInFlight).toBeGreaterThan(kills);
    expect(tally.broken).toBeGreaterThan(kills);
    expect(tally.killedBackends).toBeGreaterThan(0);
    expect(tally.replayed).toBeGreaterThan(0);
    expect(tally.repeated).toBeGreaterThan(0);
  },
  60_000 + kills * 2_000,
);
