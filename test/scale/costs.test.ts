import { describe, expect, it } from 'vitest';
import {
  type Costs,
  type Cpu,
  costsOf,
  type Design,
  type Phase,
  type PhaseName,
  sumOf,
} from '../../bench/scale/measure/costs.js';
import { figures } from './figures.js';

const design: Design = {
  seats: { few: 40, many: 4000 },
  audience: { one: 1, all: 40 },
  rows: 8,
  firstRows: { few: 20, many: 2000 },
  streams: 4000,
};

/** Returns what the phases would spend if each operation cost exactly this. */
function phasesOf(costs: Costs, isStandby: boolean): Map<PhaseName, Phase> {
  const phases = new Map<PhaseName, Phase>();
  const { seats, audience, rows, firstRows, streams } = design;
  const seconds = 10;
  const add = (
    name: PhaseName,
    times: number,
    { writes = 0, reads, statements = {} }: { writes?: number; reads: Cpu; statements?: Partial<Phase['statements']> },
  ) => {
    const all = sumOf([seconds, costs.upkeep], [1, reads], [writes, { ...costs.push, server: 0 }]);
    const spent = {
      server: all.server / 1000,
      writer: (writes * costs.push.server) / 1000,
      primary: all.primary / 1000,
      sender: (writes * costs.sending.primary) / 1000,
      standby: all.standby / 1000,
      seconds,
    };
    phases.set(name, {
      name,
      times,
      spent,
      statements: { looks: 0, primaryLooks: 0, questions: 0, deltas: 0, ...statements },
    });
  };
  const none = sumOf();
  add('quiet', 1, { reads: none });
  add('push', 1000, { writes: 1000, reads: none });
  // Alone, they cost half as much again.
  const alone = { primary: costs.push.primary / 2, standby: costs.push.standby / 2, server: 0 };
  add('push, one by one', 100, { writes: 100, reads: sumOf([100, alone]) });
  const written = { server: 0, primary: isStandby ? 3000 : 3100, standby: isStandby ? 200 : 0 };
  add('rows written', 100, { reads: sumOf([100, written]) });
  /** Looks at the primary before a standby is read. */
  const onPrimary = (polls: number) => (isStandby ? polls : 0);
  const first = (pulls: number, rows: number) => ({
    reads: sumOf([pulls, costs.firstPull], [pulls * rows, costs.firstRow], [onPrimary(pulls), costs.primaryLook]),
    statements: { primaryLooks: onPrimary(pulls) },
  });
  add('first, few rows', 10, first(10, firstRows.few));
  add('first, many rows', 10, first(10, firstRows.many));
  const unchanged = (times: number, polls: number) => ({
    reads: sumOf([times, costs.unchanged], [polls, costs.look], [onPrimary(polls), costs.primaryLook]),
    statements: { looks: polls, primaryLooks: onPrimary(polls) },
  });
  add('unchanged, one by one', 1000, unchanged(1000, 1000));
  add('unchanged, together', 1000, unchanged(1000, 150));
  add('open', streams, { reads: sumOf([streams, costs.open]) });
  add('held open', 1, { reads: sumOf([seconds * streams, costs.stream], [50, costs.look]), statements: { looks: 50 } });
  // Some of a hundred writes are found by the same look.
  const found = 90;
  const poked = (of: {
    cohorts: number;
    rows?: number;
    pokes: number;
    pulls?: number;
    deltas?: number;
    unchanged?: number;
    written?: Cpu;
  }) => ({
    writes: of.written ? 0 : 100,
    reads: sumOf(
      [found, costs.news],
      [300 - found, costs.look],
      [found * of.cohorts, costs.seat],
      [found * of.cohorts * (of.rows ?? 1), costs.pair],
      [found * of.pokes, costs.poke],
      [found * (of.pulls ?? 0), costs.delta],
      [found * (of.deltas ?? 0), costs.statement],
      [onPrimary(of.pulls ? found : 0), costs.primaryNews],
      [onPrimary(of.unchanged ?? 0), costs.primaryLook],
      [seconds * of.cohorts, costs.stream],
      [100, of.written ?? alone],
    ),
    statements: {
      looks: 300,
      primaryLooks: onPrimary((of.pulls ? found : 0) + (of.unchanged ?? 0)),
      questions: found,
      deltas: found * (of.deltas ?? 0),
    },
  });
  add('many seats, one poke', 100, poked({ cohorts: seats.many, pokes: audience.one }));
  add('many seats, many rows', 100, poked({ cohorts: seats.many, rows, pokes: 1, written }));
  add('few seats, one poke', 100, poked({ cohorts: seats.few, pokes: audience.one }));
  add('few seats, all poked', 100, poked({ cohorts: seats.few, pokes: audience.all }));
  add('few seats, one pull', 100, poked({ cohorts: seats.few, pokes: 1, pulls: 1, deltas: 1 }));
  const all = { pokes: audience.all, pulls: audience.all, deltas: 2.5, unchanged: 40 };
  add('few seats, all pull', 100, poked({ cohorts: seats.few, ...all }));
  return phases;
}

describe('the costs of operations', () => {
  it.each(['primary', 'standby'] as const)(
    'are recovered from the phases that they produce, with reads from the %s',
    (read) => {
      const costs = { ...figures[read], upkeep: { server: 100, primary: 50, standby: read === 'standby' ? 40 : 0 } };
      const phases = phasesOf(costs, read === 'standby');
      const alone = phases.get('unchanged, one by one')!;
      // One by one, pulls that wait for the primary cost a server more.
      const slow = { ...alone, spent: { ...alone.spent, server: 2 * alone.spent.server } };
      if (read === 'standby') phases.set(alone.name as PhaseName, slow);
      const found = costsOf(phases, design, read === 'standby' ? figures.primary : undefined);
      for (const [name, cpu] of Object.entries(costs)) {
        for (const [part, value] of Object.entries(cpu)) {
          expect(found[name as keyof Costs][part as keyof Cpu], `${name}, ${part}`).toBeCloseTo(value as number, 6);
        }
      }
    },
  );

  it('are never negative, even after an inaccurate measurement', () => {
    const phases = phasesOf(figures.primary, false);
    const quietest = phases.get('few seats, one pull')!;
    phases.set('few seats, one pull', { ...quietest, spent: { ...quietest.spent, server: 0, primary: 0 } });
    const all = Object.values(costsOf(phases, design)).flatMap((cpu: Cpu) => Object.values(cpu));
    expect(Math.min(...all)).toBe(0);
  });
});
