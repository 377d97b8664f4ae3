/** Derives the cost of each operation from the measured phases. Pure. */
import { type Cpu, PhaseCosts, sumOf } from './phase-costs.js';
import type { Design, Phase, PhaseName } from './phases.js';

export interface Costs {
  /** A server without subscribers and its databases, per second while nothing happens. */
  readonly idleSecond: Cpu;
  /** A push of one mutation. The standby's part is the replay of its commit. */
  readonly push: Cpu;
  /** The primary's cost of sending the WAL of such a push to a standby. */
  readonly walSend: Cpu;
  /** A first pull without its rows, and each row in it. */
  readonly firstPull: Cpu;
  readonly firstPullRow: Cpu;
  /** A pull that finds no change, without its poll. */
  readonly unchangedPull: Cpu;
  /** A poll that finds no change. Several pulls can share one. */
  readonly emptyPoll: Cpu;
  /**
   * With a standby: a poll of the mutations that the primary has applied, without and with new ones. Pulls share them.
   * Only the primary's part; the server's part belongs to the operation that polls.
   */
  readonly emptyPrimaryPoll: Cpu;
  readonly primaryPoll: Cpu;
  /** A poll that finds changes, without its query for affected cohorts. */
  readonly poll: Cpu;
  /** A query for affected cohorts: for each cohort, and for each changed row and cohort. */
  readonly cohort: Cpu;
  readonly cohortRow: Cpu;
  readonly poke: Cpu;
  /** A pull of one changed row, without its statement. Several pulls can share one. */
  readonly deltaPull: Cpu;
  readonly deltaStatement: Cpu;
  /** Opening a stream, and holding it open for a second. */
  readonly openStream: Cpu;
  readonly streamSecond: Cpu;
}

type PollCosts = Pick<Costs, 'emptyPoll' | 'emptyPrimaryPoll' | 'unchangedPull'>;
type StreamCosts = Pick<Costs, 'openStream' | 'streamSecond'>;
type PokeCosts = Pick<Costs, 'poll' | 'cohort' | 'cohortRow' | 'poke'>;
type DeltaCosts = Pick<Costs, 'primaryPoll' | 'deltaPull' | 'deltaStatement'>;

const zero: Cpu = { server: 0, primary: 0, standby: 0 };

/** Measurements are rough: a cost below zero is too small to measure. */
function atLeastZero({ server, primary, standby }: Cpu): Cpu {
  return { server: Math.max(0, server), primary: Math.max(0, primary), standby: Math.max(0, standby) };
}

/** The primary's cost of one of `count` operations; zero if there are none. */
function primaryPart(cost: number, count: number): Cpu {
  return { ...zero, primary: count > 0 ? Math.max(0, cost / count) : 0 };
}

/**
 * @param measured The phases of all names.
 * @param ofPrimary The costs with reads from the primary, if these phases read from a standby. Single pulls then wait
 *   for polls of the primary, and a server that waits needs more time for the same work. So its cost of a poll is taken
 *   from here.
 */
export function costsOf(measured: readonly Phase[], design: Design, ofPrimary?: Pick<Costs, 'emptyPoll'>): Costs {
  const phases = new PhaseCosts(measured);
  const polls = pollCosts(phases, ofPrimary);
  const streams = streamCosts(phases, design, polls);
  const changes = new ChangePhases(phases, polls, streams);
  return {
    idleSecond: atLeastZero(phases.idle),
    ...pushCosts(phases),
    ...firstPullCosts(phases, design, polls),
    ...polls,
    ...streams,
    ...pokeCosts(changes, design),
    ...deltaCosts(changes, design, polls),
  };
}

function pushCosts(phases: PhaseCosts): Pick<Costs, 'push' | 'walSend'> {
  const { cpuMs, repetitions } = phases.phase('push');
  return {
    push: atLeastZero({ ...phases.each('push'), server: (1000 * cpuMs.writer) / repetitions }),
    walSend: { ...zero, primary: (1000 * cpuMs.walSender) / repetitions },
  };
}

/** One by one, each pull has its own poll. */
function pollCosts(phases: PhaseCosts, ofPrimary: Pick<Costs, 'emptyPoll'> | undefined): PollCosts {
  const [alone, together] = ['unchanged pull, one by one', 'unchanged pull, together'] as const;
  const emptyPrimaryPoll = primaryPart(
    phases.each(alone).primary - phases.each(together).primary,
    phases.statements(alone, 'primaryPolls') - phases.statements(together, 'primaryPolls'),
  );
  const [pullAlone, pullTogether] = [alone, together].map((name) =>
    withoutPrimaryPolls(phases, name, emptyPrimaryPoll),
  );
  const [pollsAlone, pollsTogether] = [phases.statements(alone, 'polls'), phases.statements(together, 'polls')];
  const poll = atLeastZero(sumOf([1 / (pollsAlone - pollsTogether), sumOf([1, pullAlone!], [-1, pullTogether!])]));
  const emptyPoll = { ...poll, ...(ofPrimary && { server: ofPrimary.emptyPoll.server }) };
  const unchangedPull = atLeastZero(sumOf([1, pullTogether!], [-pollsTogether, emptyPoll]));
  return { emptyPoll, emptyPrimaryPoll, unchangedPull };
}

function withoutPrimaryPolls(phases: PhaseCosts, name: PhaseName, emptyPrimaryPoll: Cpu): Cpu {
  return sumOf([1, phases.each(name)], [-phases.statements(name, 'primaryPolls'), emptyPrimaryPoll]);
}

function firstPullCosts(
  phases: PhaseCosts,
  { firstRows }: Design,
  { emptyPrimaryPoll }: PollCosts,
): Pick<Costs, 'firstPull' | 'firstPullRow'> {
  const few = withoutPrimaryPolls(phases, 'first pull, few rows', emptyPrimaryPoll);
  const many = withoutPrimaryPolls(phases, 'first pull, many rows', emptyPrimaryPoll);
  const firstPullRow = atLeastZero(sumOf([1 / (firstRows.many - firstRows.few), sumOf([1, many], [-1, few])]));
  return { firstPull: atLeastZero(sumOf([1, few], [-firstRows.few, firstPullRow])), firstPullRow };
}

/** While nothing happens, a server with subscribers polls five times a second. */
function streamCosts(phases: PhaseCosts, { subscribers }: Design, { emptyPoll }: PollCosts): StreamCosts {
  const { seconds, repetitions, statements } = phases.phase('hold streams');
  const streams = sumOf([repetitions, phases.each('hold streams')], [-statements.polls, emptyPoll]);
  return {
    openStream: atLeastZero(phases.each('open streams')),
    streamSecond: atLeastZero(sumOf([1 / (seconds * subscribers.many), streams])),
  };
}

/** The phases in which subscribers are poked about writes. */
class ChangePhases {
  readonly #phases: PhaseCosts;
  readonly #emptyPoll: Cpu;
  readonly #streamSecond: Cpu;

  constructor(phases: PhaseCosts, { emptyPoll }: PollCosts, { streamSecond }: StreamCosts) {
    this.#phases = phases;
    this.#emptyPoll = emptyPoll;
    this.#streamSecond = streamSecond;
  }

  /**
   * The cost of a poll that finds a write, and of what follows. Without the write, empty polls, and the streams.
   * @param write The phase of the write alone. Pushes are as rare in it, because rare work takes longer.
   */
  eachPoll(name: PhaseName, subscribers: number, write: PhaseName = 'push, one by one'): Cpu {
    const phases = this.#phases;
    const found = phases.statements(name, 'cohortQueries');
    if (found === 0) throw new Error(`"${name}": no poll has found a write`);
    const emptyPolls = Math.max(0, phases.statements(name, 'polls') - found);
    const { seconds, repetitions } = phases.phase(name);
    const rest = sumOf(
      [1, { ...phases.each(write), server: 0 }],
      [emptyPolls, this.#emptyPoll],
      [(subscribers * seconds) / repetitions, this.#streamSecond],
    );
    return sumOf([1 / found, sumOf([1, phases.each(name)], [-1, rest])]);
  }

  /** The number of statements for each poll that finds a write. */
  statements(name: PhaseName, kind: 'primaryPolls' | 'deltas'): number {
    return this.#phases.statements(name, kind) / this.#phases.statements(name, 'cohortQueries');
  }
}

function pokeCosts(changes: ChangePhases, { subscribers: { few, many }, changedRows }: Design): PokeCosts {
  const fewOne = changes.eachPoll('few cohorts, one poke', few);
  const fewAll = changes.eachPoll('few cohorts, all poked', few);
  const manyOne = changes.eachPoll('many cohorts, one poke', many);
  const manyRows = changes.eachPoll('many cohorts, many rows', many, 'rows written');
  const poke = atLeastZero(sumOf([1 / (few - 1), sumOf([1, fewAll], [-1, fewOne])]));
  const cohortRow = atLeastZero(sumOf([1 / (many * (changedRows - 1)), sumOf([1, manyRows], [-1, manyOne])]));
  const cohortAndRow = sumOf([1 / (many - few), sumOf([1, manyOne], [-1, fewOne])]);
  const cohort = atLeastZero(sumOf([1, cohortAndRow], [-1, cohortRow]));
  return {
    poll: atLeastZero(sumOf([1, fewOne], [-few, cohort], [-few, cohortRow], [-1, poke])),
    cohort,
    cohortRow,
    poke,
  };
}

/** Compares one pull with its own statement, and many pulls with shared statements. */
function deltaCosts(
  changes: ChangePhases,
  { subscribers: { few } }: Design,
  { emptyPrimaryPoll }: PollCosts,
): DeltaCosts {
  const pulls = (name: PhaseName, poked: PhaseName) =>
    sumOf([1, changes.eachPoll(name, few)], [-1, changes.eachPoll(poked, few)]);
  const one = pulls('few cohorts, one pull', 'few cohorts, one poke');
  const all = pulls('few cohorts, all pull', 'few cohorts, all poked');
  // Such a pull costs the primary nothing else.
  const primaryPolls = changes.statements('few cohorts, one pull', 'primaryPolls');
  const primaryPoll = primaryPart(one.primary, primaryPolls);
  // Of several polls after one write, only the first finds changes.
  const emptyPolls = Math.max(0, changes.statements('few cohorts, all pull', 'primaryPolls') - primaryPolls);
  const onePull = sumOf([1, one], [-primaryPolls, primaryPoll]);
  const allPull = sumOf([1, all], [-primaryPolls, primaryPoll], [-emptyPolls, emptyPrimaryPoll]);
  const deltasOne = changes.statements('few cohorts, one pull', 'deltas');
  const deltasAll = changes.statements('few cohorts, all pull', 'deltas');
  const deltaPull = atLeastZero(
    sumOf([1 / (few * deltasOne - deltasAll), sumOf([deltasOne, allPull], [-deltasAll, onePull])]),
  );
  const deltaStatement = atLeastZero(sumOf([1 / deltasOne, sumOf([1, onePull], [-1, deltaPull])]));
  return { primaryPoll, deltaPull, deltaStatement };
}
