/** What each operation costs each part of a deployment, derived from what phases of a measurement have spent. Pure. */
import type { Spent } from './meter.js';

/** Processor time in microseconds: of the server, of the primary, and of one standby. */
export interface Cpu {
  readonly server: number;
  readonly primary: number;
  readonly standby: number;
}

export interface Costs {
  /** A second of a server with listeners while nothing happens, and of the databases beside it; looks are apart. */
  readonly upkeep: Cpu;
  /** A push of one mutation. The standby's part is the replay of its commit, on each standby. */
  readonly push: Cpu;
  /** What the primary spends on sending such a push to a standby. */
  readonly sending: Cpu;
  /** A first pull, without its rows, and each row in it. */
  readonly firstPull: Cpu;
  readonly firstRow: Cpu;
  /** A pull to which nothing has happened, without its look. */
  readonly unchanged: Cpu;
  /** A look at a log in which nothing is new. Several pulls may share one. */
  readonly look: Cpu;
  /**
   * With a standby being read: a look at what mutations the primary has applied, in vain and not. Pulls share them. Here the
   * primary's part alone; the server's belongs to what the look is for.
   */
  readonly primaryLook: Cpu;
  readonly primaryNews: Cpu;
  /** A look that finds something, without whom it asks about. */
  readonly news: Cpu;
  /** Asking about one seat, and about one changed row for one seat. */
  readonly seat: Cpu;
  readonly pair: Cpu;
  readonly poke: Cpu;
  /** A pull of one changed row, without its statement. Several pulls may share one. */
  readonly delta: Cpu;
  readonly statement: Cpu;
  /** A stream opened, and held open for a second. */
  readonly open: Cpu;
  readonly stream: Cpu;
}

/** A part of the measurement: how often it did its one thing, and what was spent on it. */
export interface Phase {
  readonly name: string;
  readonly times: number;
  readonly spent: Spent;
  readonly statements: Statements;
}

/** How many statements of each kind the databases that are read have run; and, of one kind, the primary beside them. */
export interface Statements {
  /** Looks at the log. */
  readonly looks: number;
  /** Looks at the primary's, while a standby is read. */
  readonly primaryLooks: number;
  /** Questions whom changes concern: one for each look that finds something. */
  readonly questions: number;
  /** Small deltas. */
  readonly deltas: number;
}

/** How the phases were set up. The names are those of the phases. */
export interface Design {
  readonly seats: { readonly few: number; readonly many: number };
  /** How many clients a write concerns. */
  readonly audience: { readonly one: number; readonly all: number };
  /** How many rows the transactions of the phase `rows` change. */
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

/** Bytes on the connections of clients, both ways together, without what TLS and the network add. */
export interface Traffic {
  readonly unchanged: number;
  readonly delta: number;
  readonly firstRow: number;
  readonly push: number;
  readonly poke: number;
  /** Of a stream, in a second. */
  readonly stream: number;
}

export interface Memory {
  /** Of a server without clients, in MB. */
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

/** A sum of costs, each so many times. */
export function sumOf(...terms: readonly (readonly [times: number, cost: Cpu])[]): Cpu {
  const of = (part: keyof Cpu) => terms.reduce((sum, [times, cost]) => sum + times * cost[part], 0);
  return { server: of('server'), primary: of('primary'), standby: of('standby') };
}

/** What was measured is rough: a cost that comes out below zero is too small to be seen. */
function atLeastZero({ server, primary, standby }: Cpu): Cpu {
  return { server: Math.max(0, server), primary: Math.max(0, primary), standby: Math.max(0, standby) };
}

/**
 * @param phases of all names
 * @param ofPrimary what was measured while the primary was read, if these phases are of a standby that is read. Then pulls
 *   that come one by one wait for looks at the primary. A server that mostly waits takes longer for the same work, so what
 *   a look costs it comes from there.
 */
export function costsOf(phases: ReadonlyMap<PhaseName, Phase>, design: Design, ofPrimary?: Pick<Costs, 'look'>): Costs {
  const quiet = phases.get('quiet')!;
  const upkeep = sumOf([1 / quiet.spent.seconds, cpuOf(quiet.spent)]);
  /** Of one of the times, without upkeep. */
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
  /** The same, without looks in vain at the primary. */
  const besideThose = (name: PhaseName) => sumOf([1, each(name)], [-onPrimary(name), primaryLook]);

  const few = besideThose('first, few rows');
  const many = besideThose('first, many rows');
  const firstRow = atLeastZero(
    sumOf([1 / (design.firstRows.many - design.firstRows.few), sumOf([1, many], [-1, few])]),
  );
  const firstPull = atLeastZero(sumOf([1, few], [-design.firstRows.few, firstRow]));

  // Alone, each pull has a look of its own.
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
  // While nothing happens, a server that has listeners looks five times a second.
  const heldLooks = held.statements.looks / held.spent.seconds;
  const stream = atLeastZero(
    sumOf(
      [1 / (held.spent.seconds * design.streams), cpuOf(held.spent)],
      [-1 / design.streams, sumOf([1, upkeep], [heldLooks, look])],
    ),
  );
  const { seats, audience, rows } = design;
  // As seldom as in the phases in which somebody listens: what runs seldom takes longer.
  const pushedAlone = { ...each('push, one by one', { isPush: true }), server: 0 };
  /** What follows from a look that finds a write, without the write, looks in vain, and the streams themselves. */
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
  // Of several after one write, the first finds something.
  const inVain = Math.max(0, forEach('few seats, all pull', 'primaryLooks') - looksOne);
  const allPull = sumOf([1, allAndLooks], [-looksOne, primaryNews], [-inVain, primaryLook]);
  const [deltasOne, deltasAll] = [forEach('few seats, one pull', 'deltas'), forEach('few seats, all pull', 'deltas')];
  // Of one pull with its own statement, and of many with the statements that they shared.
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

/** What the primary spends on each of so many; nothing if there are none. */
function primaryPart(spent: number, count: number): Cpu {
  return { ...zero, primary: count > 0 ? Math.max(0, spent / count) : 0 };
}

function cpuOf({ server, primary, standby }: Spent): Cpu {
  return sumOf([1000, { server, primary, standby }], [0, zero]);
}
