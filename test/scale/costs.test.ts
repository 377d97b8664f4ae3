import { describe, expect, it } from 'vitest';
import { type Costs, costsOf } from '../../bench/scale/measure/costs.js';
import { type Cpu, sumOf } from '../../bench/scale/measure/phase-costs.js';
import type { Design, Phase, PhaseName } from '../../bench/scale/measure/phases.js';
import { exampleCosts } from './example-costs.js';

const design: Design = {
  subscribers: { few: 40, many: 4000 },
  changedRows: 8,
  firstRows: { few: 20, many: 2000 },
};

/** Returns the phases as they would be measured if each operation cost exactly this. */
function phasesOf(costs: Costs, isStandby: boolean): Phase[] {
  const phases: Phase[] = [];
  const { subscribers, changedRows, firstRows } = design;
  const seconds = 10;
  const add = (
    name: PhaseName,
    repetitions: number,
    { writes = 0, reads, statements = {} }: { writes?: number; reads: Cpu; statements?: Partial<Phase['statements']> },
  ) => {
    const all = sumOf([seconds, costs.idleSecond], [1, reads], [writes, { ...costs.push, server: 0 }]);
    const cpuMs = {
      server: all.server / 1000,
      writer: (writes * costs.push.server) / 1000,
      primary: all.primary / 1000,
      walSender: (writes * costs.walSend.primary) / 1000,
      standby: all.standby / 1000,
    };
    phases.push({
      name,
      repetitions,
      seconds,
      cpuMs,
      statements: { polls: 0, primaryPolls: 0, cohortQueries: 0, deltas: 0, ...statements },
    });
  };
  const none = sumOf();
  add('idle', 1, { reads: none });
  add('push', 1000, { writes: 1000, reads: none });
  // Alone, they cost half as much again.
  const alone = { primary: costs.push.primary / 2, standby: costs.push.standby / 2, server: 0 };
  add('push, one by one', 100, { writes: 100, reads: sumOf([100, alone]) });
  const written = { server: 0, primary: isStandby ? 3000 : 3100, standby: isStandby ? 200 : 0 };
  add('rows written', 100, { reads: sumOf([100, written]) });
  /** Polls of the primary before reads from a standby. */
  const onPrimary = (polls: number) => (isStandby ? polls : 0);
  const first = (pulls: number, rows: number) => ({
    reads: sumOf(
      [pulls, costs.firstPull],
      [pulls * rows, costs.firstPullRow],
      [onPrimary(pulls), costs.emptyPrimaryPoll],
    ),
    statements: { primaryPolls: onPrimary(pulls) },
  });
  add('first pull, few rows', 10, first(10, firstRows.few));
  add('first pull, many rows', 10, first(10, firstRows.many));
  const unchanged = (times: number, polls: number) => ({
    reads: sumOf([times, costs.unchangedPull], [polls, costs.emptyPoll], [onPrimary(polls), costs.emptyPrimaryPoll]),
    statements: { polls: polls, primaryPolls: onPrimary(polls) },
  });
  add('unchanged pull, one by one', 1000, unchanged(1000, 1000));
  add('unchanged pull, together', 1000, unchanged(1000, 150));
  add('open streams', subscribers.many, { reads: sumOf([subscribers.many, costs.openStream]) });
  add('hold streams', 1, {
    reads: sumOf([seconds * subscribers.many, costs.streamSecond], [50, costs.emptyPoll]),
    statements: { polls: 50 },
  });
  // Some of a hundred writes are found by the same poll.
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
      [found, costs.poll],
      [300 - found, costs.emptyPoll],
      [found * of.cohorts, costs.cohort],
      [found * of.cohorts * (of.rows ?? 1), costs.cohortRow],
      [found * of.pokes, costs.poke],
      [found * (of.pulls ?? 0), costs.deltaPull],
      [found * (of.deltas ?? 0), costs.deltaStatement],
      [onPrimary(of.pulls ? found : 0), costs.primaryPoll],
      [onPrimary(of.unchanged ?? 0), costs.emptyPrimaryPoll],
      [seconds * of.cohorts, costs.streamSecond],
      [100, of.written ?? alone],
    ),
    statements: {
      polls: 300,
      primaryPolls: onPrimary((of.pulls ? found : 0) + (of.unchanged ?? 0)),
      cohortQueries: found,
      deltas: found * (of.deltas ?? 0),
    },
  });
  add('many cohorts, one poke', 100, poked({ cohorts: subscribers.many, pokes: 1 }));
  add('many cohorts, many rows', 100, poked({ cohorts: subscribers.many, rows: changedRows, pokes: 1, written }));
  add('few cohorts, one poke', 100, poked({ cohorts: subscribers.few, pokes: 1 }));
  add('few cohorts, all poked', 100, poked({ cohorts: subscribers.few, pokes: subscribers.few }));
  add('few cohorts, one pull', 100, poked({ cohorts: subscribers.few, pokes: 1, pulls: 1, deltas: 1 }));
  const all = { pokes: subscribers.few, pulls: subscribers.few, deltas: 2.5, unchanged: 40 };
  add('few cohorts, all pull', 100, poked({ cohorts: subscribers.few, ...all }));
  return phases;
}

describe('the costs of operations', () => {
  it.each(['primary', 'standby'] as const)(
    'are recovered from the phases that they produce, with reads from the %s',
    (read) => {
      const idleSecond = { server: 100, primary: 50, standby: read === 'standby' ? 40 : 0 };
      const costs = { ...exampleCosts[read], idleSecond };
      // One by one, pulls that wait for the primary cost a server more.
      const phases = phasesOf(costs, read === 'standby').map((phase) =>
        read === 'standby' && phase.name === 'unchanged pull, one by one'
          ? { ...phase, cpuMs: { ...phase.cpuMs, server: 2 * phase.cpuMs.server } }
          : phase,
      );
      const found = costsOf(phases, design, read === 'standby' ? exampleCosts.primary : undefined);
      for (const [name, cpu] of Object.entries(costs)) {
        for (const [part, value] of Object.entries(cpu)) {
          expect(found[name as keyof Costs][part as keyof Cpu], `${name}, ${part}`).toBeCloseTo(value as number, 6);
        }
      }
    },
  );

  it('are never negative, even after an inaccurate measurement', () => {
    const phases = phasesOf(exampleCosts.primary, false).map((phase) =>
      phase.name === 'few cohorts, one pull' ? { ...phase, cpuMs: { ...phase.cpuMs, server: 0, primary: 0 } } : phase,
    );
    const all = Object.values(costsOf(phases, design)).flatMap((cpu: Cpu) => Object.values(cpu));
    expect(Math.min(...all)).toBe(0);
  });
});
