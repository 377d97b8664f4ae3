import { describe, expect, it } from 'vitest';
import { cpuOf, planFor, predict } from '../../bench/scale/model/plan.js';
import { batchOf, loadOf, type Rates } from '../../bench/scale/model/rates.js';
import { simulate } from '../../bench/scale/model/simulation.js';
import { assumptions, durationsOf, usual, type Workload } from '../../bench/scale/model/workload.js';
import { Random } from '../stress/oracle/random.js';
import { figures } from './figures.js';

const work = (clients: number, writes: number, more: Partial<Workload> = {}): Workload => ({
  ...usual,
  seats: 'user',
  clients,
  writes,
  ...more,
});
const deployment = (servers: number, standbys = 1) => ({ servers, standbys });

describe('a plan', () => {
  it('adds up the costs of all operations', () => {
    const idle = work(1000, 0, { opensPerHour: 3.6, firstPullsPerDay: 86.4, firstRows: 100 });
    const plan = predict(idle, deployment(1), figures, assumptions);
    // A stream's 1 µs a second; each second, one opens and pulls unnecessarily (400 + 60 + 60), and one pulls 100 rows.
    expect(plan.serverCores * 1e6 - plan.rates.looksInVain * 60).toBeCloseTo(1000 + 520 + 1200, 0);
    expect(plan.standbyCores * 1e6 - plan.rates.looksInVain * 60).toBeCloseTo(60 + 650, 0);
    // Before each of the two pulls, the primary is looked at, and seldom for both at once.
    expect(plan.primaryCores * 1e6).toBeGreaterThan(0.98 * 2 * 40);
    expect(plan.primaryCores * 1e6).toBeLessThan(2 * 40);
    expect(plan.rates).toMatchObject({ opens: 1, unchanged: 1, firstPulls: 1, pushes: 0, pokes: 0, pulls: 0 });
  });

  it('charges the primary for writes, for each standby, and for reads if there is no standby', () => {
    const some = work(1000, 10);
    const planned = (standbys: number) => predict(some, deployment(1, standbys), figures, assumptions);
    /** Without what looks at it cost. */
    const primary = (standbys: number) => {
      const { primaryCores, rates } = planned(standbys);
      return primaryCores - (rates.primaryLooks - rates.primaryNews) * 40e-6 - rates.primaryNews * 200e-6;
    };
    expect(primary(1)).toBeCloseTo(10 * 420e-6, 9);
    expect(primary(3)).toBeCloseTo(10 * 460e-6, 9);
    expect(planned(0).rates).toMatchObject({ primaryLooks: 0, primaryNews: 0 });
    expect(primary(0)).toBeGreaterThan(10 * 400e-6 + 10 * 1000 * 2e-6);
  });

  it('has the fewest servers and standbys that stay within the assumptions', () => {
    for (const one of [work(10_000, 50), work(100_000, 500, { seats: 'team' })]) {
      const plan = planFor(one, figures, assumptions);
      expect(plan.streams).toBeLessThanOrEqual(assumptions.streamsPerServer);
      expect(plan.serverCores / plan.servers).toBeLessThanOrEqual(0.6);
      expect(plan.standbyCores).toBeLessThanOrEqual(0.6 * assumptions.databaseCores);
      const fewer = predict(one, deployment(plan.servers - 1, plan.standbys), figures, assumptions);
      const isEnough = fewer.asking !== 'not' && fewer.streams <= 10_000 && fewer.serverCores / fewer.servers <= 0.6;
      expect(plan.servers === 1 || !isEnough).toBe(true);
    }
  });

  it('has enough servers for idle streams', () => {
    expect(planFor(work(100_001, 0), figures, assumptions).servers).toBe(11);
  });

  it('reads from the primary while it has capacity', () => {
    expect(planFor(work(1000, 1), figures, assumptions).standbys).toBe(0);
    expect(planFor(work(100_000, 500), figures, assumptions).standbys).toBeGreaterThan(0);
  });

  it('reports when the primary has too many writes', () => {
    expect(planFor(work(10_000, 1000, { seats: 'team' }), figures, assumptions).fits).toBe(true);
    const tooMuch = planFor(work(10_000, 40_000, { seats: 'team' }), figures, assumptions);
    expect([tooMuch.fits, tooMuch.suffices]).toEqual([false, false]);
  });

  it('counts bytes and memory', () => {
    const plan = predict(
      work(1000, 0, { opensPerHour: 3.6, firstPullsPerDay: 0 }),
      deployment(1),
      figures,
      assumptions,
    );
    expect(plan.megabits).toBeCloseTo((8 * (1000 + 1000 * 0.5)) / 1e6, 9);
    expect(plan.memoryMB).toBeCloseTo(100 + (1000 * 13) / 1024, 6);
  });
});

describe('the number of cohorts', () => {
  const took = durationsOf(deployment(4), figures, assumptions);
  const cohortsOf = (seats: Workload['seats'], servers: number) =>
    loadOf(work(4000, 1, { seats }), deployment(servers), took, assumptions).seats;

  it('is that of the clients, or of the teams with a client at the server', () => {
    expect(cohortsOf('user', 4)).toBe(1000);
    expect(cohortsOf('team', 1)).toBe(100);
    expect(cohortsOf('team', 4)).toBeCloseTo(100, 2);
    expect(cohortsOf('team', 100)).toBeCloseTo(100 * (1 - 0.99 ** 40), 6);
  });

  it('is smaller if all clients of a team use the same server', () => {
    const routed = (seats: Workload['seats']) =>
      loadOf(work(4000, 1, { seats, isRouted: true }), deployment(4), took, assumptions).seats;
    expect(routed('team')).toBe(25);
    expect(routed('user')).toBe(1000);
  });

  it('delays queries for affected cohorts if it is large, and prevents them if it is far too large', () => {
    const asking = (clients: number, writes: number) =>
      loadOf(work(clients, writes), deployment(1), took, assumptions).asking;
    expect(asking(1000, 10)).toBe('at once');
    expect(asking(10_000, 20)).toBe('later');
    expect(asking(10_000, 1000)).toBe('not');
  });
});

it('a batch holds one request at low rates, and all that arrive at high rates', () => {
  expect(batchOf(0)).toBe(1);
  expect(batchOf(0.1)).toBeCloseTo(1.0048, 4);
  expect(batchOf(20)).toBeCloseTo(20, 6);
});

describe('the formulas match a simulation', () => {
  /** How far each may be off, as a part. Counts that are few are left out. More is shared than the formula says. */
  const tolerance: Partial<Record<keyof Rates, number>> = {
    news: 0.1,
    looksInVain: 0.2,
    seats: 0.1,
    pairs: 0.05,
    pokes: 0.1,
    pulls: 0.1,
    statements: 0.25,
    looks: 0.1,
    unchanged: 0.1,
    primaryLooks: 0.15,
    primaryNews: 0.3,
  };

  it.each([
    ['few clients of one server', work(1000, 2), deployment(1)],
    ['two servers', work(2000, 10), deployment(2)],
    ['many writes', work(4000, 50), deployment(4)],
    ['views that teams share', work(10_000, 100, { seats: 'team' }), deployment(8)],
    ['teams that are routed to one server', work(10_000, 100, { seats: 'team', isRouted: true }), deployment(8)],
    ['small teams', work(2000, 30, { audience: 5, seats: 'team' }), deployment(2)],
    ['clients that are poked while they wait', work(200, 100), deployment(1)],
    ['many pulls without changes', work(2000, 5, { opensPerHour: 900 }), deployment(1)],
  ])('of %s', (_, one, servers) => {
    const took = durationsOf(servers, figures, assumptions);
    const seconds = Math.max(20, 1500 / one.writes);
    const random = new Random(3);
    const happened = simulate({ work: one, deployment: servers, took, assumed: assumptions, seconds, random });
    const { rates, asking } = loadOf({ ...one, writes: happened.pushes }, servers, took, assumptions);
    expect(asking).toBe('at once');
    for (const [kind, part] of Object.entries(tolerance)) {
      const [formula, real] = [rates[kind as keyof Rates], happened[kind as keyof Rates]];
      if (real * seconds < 500) continue;
      expect(formula / real, kind).toBeGreaterThan(1 - part);
      expect(formula / real, kind).toBeLessThan(1 + part);
    }
  });

  it('of queries that run beside the polls', () => {
    const one = work(20_000, 20);
    const took = durationsOf(deployment(2), figures, assumptions);
    const options = { work: one, deployment: deployment(2), took, assumed: assumptions, seconds: 60 };
    const happened = simulate({ ...options, random: new Random(4) });
    const { rates, asking } = loadOf({ ...one, writes: happened.pushes }, deployment(2), took, assumptions);
    expect(asking).toBe('later');
    expect(rates.pairs / happened.pairs).toBeCloseTo(1, 1);
    expect(rates.pokes / happened.pokes).toBeGreaterThan(0.8);
    expect(rates.pokes / happened.pokes).toBeLessThan(1.25);
    // Those who are told at the same moment share more than the formula says.
    expect(rates.statements).toBeGreaterThan(happened.statements);
  });

  it('in the processor time that follows from them', () => {
    const [one, servers] = [work(4000, 20), deployment(2)];
    const took = durationsOf(servers, figures, assumptions);
    const options = { work: one, deployment: servers, took, assumed: assumptions, seconds: 60 };
    const happened = simulate({ ...options, random: new Random(5) });
    const { rates } = loadOf({ ...one, writes: happened.pushes }, servers, took, assumptions);
    const formula = cpuOf(one, { ...rates, firstPulls: 0 }, servers, figures);
    const real = cpuOf(one, happened, servers, figures);
    for (const part of ['server', 'primary', 'standby'] as const) {
      expect(formula[part] / real[part], part).toBeCloseTo(1, 1);
    }
  });
});
