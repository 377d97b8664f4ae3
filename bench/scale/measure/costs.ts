/** Derives what each operation costs each part of a deployment from what the measured phases spent. Pure. */
import type { Spent } from './meter.js';

/** Processor time in microseconds: of the server, of the primary, and of one standby. */
export interface Cpu {
  readonly server: number;
  readonly primary: number;
  readonly standby: number;
}

export interface Costs {
  /** A server with subscribers and its databases, per second while nothing happens. Without polls. */
  readonly upkeep: Cpu;
  /** A push of one mutation. The standby's part is the replay of its commit, on each standby. */
  readonly push: Cpu;
  /** The primary's cost of sending such a push to a standby. */
  readonly sending: Cpu;
  /** A first pull without its rows, and each row in it. */
  readonly firstPull: Cpu;
  readonly firstRow: Cpu;
  /** A pull that finds no change, without its poll. */
  readonly unchanged: Cpu;
  /** A poll that finds no change. Several pulls can share one. */
  readonly look: Cpu;
  /**
   * With standbys: a poll of the mutations that the primary has applied, without and with new ones. Pulls share them.
   * Only the primary's part; the server's part belongs to the operation that polls.
   */
  readonly primaryLook: Cpu;
  readonly primaryNews: Cpu;
  /** A poll that finds changes, without its queries for affected cohorts. */
  readonly news: Cpu;
  /** A query for affected cohorts: for each cohort, and for each changed row and cohort. */
  readonly seat: Cpu;
  readonly pair: Cpu;
  readonly poke: Cpu;
  /** A pull of one changed row, without its statement. Several pulls can share one. */
  readonly delta: Cpu;
  readonly statement: Cpu;
  /** Opening a stream, and holding it open for a second. */
  readonly open: Cpu;
  readonly stream: Cpu;
}

/** A phase of the measurement: the number of repetitions of its operation, and their cost. */
export interface Phase {
  readonly name: string;
  readonly times: number;
  readonly spent: Spent;
  readonly statements: Statements;
}

/** The number of statements of each kind on the databases that serve reads, and of one kind on the primary. */
export interface Statements {
  /** Polls of the change log. */
  readonly looks: number;
  /** Polls of the primary while a standby serves reads. */
  readonly primaryLooks: number;
  /** Queries for affected cohorts: one for each poll that finds changes. */
  readonly questions: number;
  /** Small deltas. */
  readonly deltas: number;
}

/** The sizes of the phases, by the names of the phases. */
export interface Design {
  readonly seats: { readonly few: number; readonly many: number };
  /** The number of clients that a write affects. */
  readonly audience: { readonly one: number; readonly all: number };
  /** The number of rows that each transaction of the phase `rows` changes. */
  readonly rows: number;
  readonly firstRows: { readonly few: number; readonly many: number };
  readonly streams: number;
}

export const phaseNames = [
  'quiet',
  'push',
  'push, one by one',
  'rows written',
  'first, few rows',
  'first, many rows',
  'unchanged, one by one',
  'unchanged, together',
  'open',
  'held open',
  'few seats, one poke',
  'many seats, one poke',
  'many seats, many rows',
  'few seats, all poked',
  'few seats, one pull',
  'few seats, all pull',
] as const;
export type PhaseName = (typeof phaseNames)[number];

/** Bytes on clients' connections in both directions, without the overhead of TLS and the network. */
export interface Traffic {
  readonly unchanged: number;
  readonly delta: number;
  readonly firstRow: number;
  readonly push: number;
  readonly poke: number;
  /** A stream, per second. */
  readonly stream: number;
}

export interface Memory {
  /** A server without clients, in MB. */
  readonly serverMB: number;
  readonly streamKB: number;
  readonly groupKB: number;
}

export interface Measured {
  readonly standbys: number;
  readonly postgres: string;
  readonly design: Design;
  readonly phases: readonly Phase[];
  readonly costs: Costs;
  readonly traffic: Traffic;
  readonly memory: Memory;
}

const zero: Cpu = { server: 0, primary: 0, standby: 0 };

/** Adds up costs, each multiplied by its number of times. */
export function sumOf(...terms: readonly (readonly [times: number, cost: Cpu])[]): Cpu {
  const of = (part: keyof Cpu) => terms.reduce((sum, [times, cost]) => sum + times * cost[part], 0);
  return { server: of('server'), primary: of('primary'), standby: of('standby') };
}

/** Measurements are rough: a cost below zero is too small to measure. */
function atLeastZero({ server, primary, standby }: Cpu): Cpu {
  return { server: Math.max(0, server), primary: Math.max(0, primary), standby: Math.max(0, standby) };
}

/**
 * @param phases The phases of all names.
 * @param ofPrimary The costs with reads from the primary, if these phases read from a standby. Single pulls then wait
 *   for polls of the primary, and a server that waits needs more time for the same work. So its cost of a poll is taken
 *   here.
 */
export function costsOf(phases: ReadonlyMap<PhaseName, Phase>, design: Design, ofPrimary?: Pick<Costs, 'look'>): Costs {
  const quiet = phases.get('quiet')!;
  const upkeep = sumOf([1 / quiet.spent.seconds, cpuOf(quiet.spent)]);
  /** The cost of one repetition, without upkeep. */
  const each = (name: PhaseName, { isPush = false } = {}): Cpu => {
    const { spent, times } = phases.get(name)!;
    const cpu = { ...cpuOf(spent), ...(isPush && { server: 1000 * spent.writer }) };
    return sumOf([1 / times, cpu], [-spent.seconds / times, { ...upkeep, ...(isPush && { server: 0 }) }]);
  };
  const statements = (name: PhaseName, kind: keyof Statements) =>
    phases.get(name)!.statements[kind] / phases.get(name)!.times;

  const push = atLeastZero(each('push', { isPush: true }));
  const { spent: pushed, times: pushes } = phases.get('push')!;
  const sending = { ...zero, primary: (1000 * pushed.sender) / pushes };
  const rowsWritten = { ...each('rows written'), server: 0 };

  const [alone, together] = [each('unchanged, one by one'), each('unchanged, together')];
  const onPrimary = (name: PhaseName) => statements(name, 'primaryLooks');
  const primaryLook = primaryPart(
    alone.primary - together.primary,
    onPrimary('unchanged, one by one') - onPrimary('unchanged, together'),
  );
  /** The cost of one repetition, without upkeep and without polls of the primary that find nothing. */
  const besideThose = (name: PhaseName) => sumOf([1, each(name)], [-onPrimary(name), primaryLook]);

  const few = besideThose('first, few rows');
  const many = besideThose('first, many rows');
  const firstRow = atLeastZero(
    sumOf([1 / (design.firstRows.many - design.firstRows.few), sumOf([1, many], [-1, few])]),
  );
  const firstPull = atLeastZero(sumOf([1, few], [-design.firstRows.few, firstRow]));

  // One by one, each pull has its own poll.
  const [looksAlone, looksTogether] = [
    statements('unchanged, one by one', 'looks'),
    statements('unchanged, together', 'looks'),
  ];
  const [pullAlone, pullTogether] = [besideThose('unchanged, one by one'), besideThose('unchanged, together')];
  const looked = atLeastZero(sumOf([1 / (looksAlone - looksTogether), sumOf([1, pullAlone], [-1, pullTogether])]));
  const look = { ...looked, ...(ofPrimary && { server: ofPrimary.look.server }) };
  const unchanged = atLeastZero(sumOf([1, pullTogether], [-looksTogether, look]));

  const open = atLeastZero(each('open'));
  const held = phases.get('held open')!;
  // While nothing happens, a server with subscribers polls five times a second.
  const heldLooks = held.statements.looks / held.spent.seconds;
  const stream = atLeastZero(
    sumOf(
      [1 / (held.spent.seconds * design.streams), cpuOf(held.spent)],
      [-1 / design.streams, sumOf([1, upkeep], [heldLooks, look])],
    ),
  );
  const { seats, audience, rows } = design;
  // Pushes as rare as in the phases with subscribers, because rare work takes longer.
  const pushedAlone = { ...each('push, one by one', { isPush: true }), server: 0 };
  /** The cost of a poll that finds a write, and of what follows. Without the write, empty polls, and the streams. */
  const after = (name: PhaseName, listening: number, written: Cpu = pushedAlone) => {
    const found = statements(name, 'questions');
    if (found === 0) throw new Error(`"${name}": no look has found a write`);
    const inVain = Math.max(0, statements(name, 'looks') - found);
    const { spent, times } = phases.get(name)!;
    const streams = (listening * spent.seconds) / times;
    return sumOf([1 / found, sumOf([1, each(name)], [-1, written], [-inVain, look], [-streams, stream])]);
  };
  const fewOne = after('few seats, one poke', seats.few);
  const manyOne = after('many seats, one poke', seats.many);
  const fewAll = after('few seats, all poked', seats.few);
  const manyRows = after('many seats, many rows', seats.many, rowsWritten);
  const poke = atLeastZero(sumOf([1 / (audience.all - audience.one), sumOf([1, fewAll], [-1, fewOne])]));
  const pair = atLeastZero(sumOf([1 / (seats.many * (rows - 1)), sumOf([1, manyRows], [-1, manyOne])]));
  const seatAndPair = sumOf([1 / (seats.many - seats.few), sumOf([1, manyOne], [-1, fewOne])]);
  const seat = atLeastZero(sumOf([1, seatAndPair], [-1, pair]));
  const news = atLeastZero(sumOf([1, fewOne], [-seats.few, seat], [-seats.few, pair], [-audience.one, poke]));

  const forEach = (name: PhaseName, kind: keyof Statements) => statements(name, kind) / statements(name, 'questions');
  const oneAndLooks = sumOf([1, after('few seats, one pull', seats.few)], [-1, fewOne]);
  const allAndLooks = sumOf([1, after('few seats, all pull', seats.few)], [-1, fewAll]);
  // Such a pull costs the primary nothing else.
  const looksOne = forEach('few seats, one pull', 'primaryLooks');
  const primaryNews = primaryPart(oneAndLooks.primary, looksOne);
  const onePull = sumOf([1, oneAndLooks], [-looksOne, primaryNews]);
  // Of several polls after one write, only the first finds changes.
  const inVain = Math.max(0, forEach('few seats, all pull', 'primaryLooks') - looksOne);
  const allPull = sumOf([1, allAndLooks], [-looksOne, primaryNews], [-inVain, primaryLook]);
  const [deltasOne, deltasAll] = [forEach('few seats, one pull', 'deltas'), forEach('few seats, all pull', 'deltas')];
  // One pull with its own statement, and many pulls with shared statements.
  const delta = atLeastZero(
    sumOf([
      1 / (audience.all * deltasOne - audience.one * deltasAll),
      sumOf([deltasOne, allPull], [-deltasAll, onePull]),
    ]),
  );
  const statement = atLeastZero(sumOf([1 / deltasOne, sumOf([1, onePull], [-audience.one, delta])]));

  return {
    upkeep: atLeastZero(upkeep),
    push,
    sending,
    firstPull,
    firstRow,
    unchanged,
    look,
    primaryLook,
    primaryNews,
    news,
    seat,
    pair,
    poke,
    delta,
    statement,
    open,
    stream,
  };
}

/** The primary's cost of one of `count` operations; zero if there are none. */
function primaryPart(spent: number, count: number): Cpu {
  return { ...zero, primary: count > 0 ? Math.max(0, spent / count) : 0 };
}

function cpuOf({ server, primary, standby }: Spent): Cpu {
  return sumOf([1000, { server, primary, standby }], [0, zero]);
}
