/** How often what happens, by formulas. Pure. `simulation.ts` lets it happen instead. */
import { pauseAfter } from '../../../src/pokes/look-times.js';
import { quick, thorough } from '../../../src/pokes/plan-pokes.js';
import { patienceMs } from '../../../src/pokes/postponed.js';
import { paceMs } from '../../../src/sources/paced-looks.js';
import type { Assumptions, Deployment, Durations, Workload } from './workload.js';

/** How the servers find out whom a write concerns. */
export type Asking =
  /** In the look that finds it. */
  | 'at once'
  /** Beside the looks, some seconds later at most. */
  | 'later'
  /** Not at all: there are too many seats and changes, so everybody is poked. */
  | 'not';

/** What happens in a second, on all servers together. */
export interface Rates {
  readonly pushes: number;
  /** Looks of the tails that find nothing, and those that find something. */
  readonly looksInVain: number;
  readonly news: number;
  /** Seats that are asked about, and rows that are asked about for a seat. */
  readonly seats: number;
  readonly pairs: number;
  readonly pokes: number;
  /** Pulls of what was poked about, and the statements that they share. */
  readonly pulls: number;
  readonly statements: number;
  /** Pulls in vain, and the looks that they share. */
  readonly unchanged: number;
  readonly looks: number;
  /** With standbys: looks at the primary, which all pulls share, and those of them that find something. */
  readonly primaryLooks: number;
  readonly primaryNews: number;
  readonly opens: number;
  readonly firstPulls: number;
}

export interface Load {
  readonly rates: Rates;
  readonly asking: Asking;
  /** On each server. */
  readonly streams: number;
  readonly seats: number;
}

/**
 * The mean size of batches, when one is served after the other and each takes all who have come while the last one was
 * served; whoever comes when none is being served is served at once.
 * @param arrivals how many come while one batch is served, on average
 */
export function batchOf(arrivals: number): number {
  return arrivals + Math.exp(-arrivals);
}

/** After a look that finds something, a server rests for twice as long as it took. */
const rest = 3;
/** The longest pause between two looks, in milliseconds. */
const longestPauseMs = 200;
/** After a question beside the looks, in milliseconds. */
export const longestRestMs = 1_000;

export function loadOf(work: Workload, deployment: Deployment, took: Durations, assumed: Assumptions): Load {
  const { servers } = deployment;
  const { clients, audience, writes, opensPerHour, firstPullsPerDay } = work;
  const streams = clients / servers;
  const teams = clients / audience;
  const teamsOnEach = work.isRouted ? teams / servers : teams * (1 - (1 - 1 / servers) ** audience);
  const seats = work.seats === 'user' ? streams : teamsOnEach;
  const looks = looksOf(writes / 1000, seats, took);
  const pokesEach = looks.tellings * tellsOne(looks, writes / 1000, audience / clients);
  const pokes = 1000 * pokesEach * clients;
  // A client that has been poked and has not yet pulled does so once, however often it is poked.
  const pulls = pokes / (1 + pokesEach * (assumed.spreadMs / 2));
  const unchanged = (opensPerHour / 3600) * clients;
  const firstPulls = (firstPullsPerDay / 86_400) * clients;
  const looksShared = batchOf((unchanged / servers / 1000) * took.look);
  return {
    streams,
    seats,
    asking: looks.asking,
    rates: {
      pushes: writes,
      looksInVain: 1000 * servers * looks.inVain,
      news: 1000 * servers * looks.news,
      seats: 1000 * servers * looks.questions * seats,
      pairs: looks.asking === 'not' ? 0 : servers * writes * seats,
      pokes,
      pulls,
      statements: pulls * statementsEach(work, servers, took, assumed),
      unchanged,
      looks: unchanged / looksShared,
      ...primaryLooksOf(work, deployment, [pulls, unchanged + firstPulls], assumed),
      opens: unchanged,
      firstPulls,
    },
  };
}

/** How probable it is that a client is told when some are. @param share of all clients that see a write */
function tellsOne({ asking, tellings }: LooksOfOne, writes: number, share: number): number {
  return asking === 'not' ? 1 : 1 - (1 - share) ** (writes / (tellings || 1));
}

interface LooksOfOne {
  readonly asking: Asking;
  /** Each in a millisecond: looks in vain, looks that find something, questions, and moments when clients are told. */
  readonly inVain: number;
  readonly news: number;
  readonly questions: number;
  readonly tellings: number;
}

/** @param writes in a millisecond */
function looksOf(writes: number, seats: number, took: Durations): LooksOfOne {
  const inLook = looking(writes, took.news + took.seat * seats, took.pair * seats, took.look);
  if (seats * inLook.batch <= quick.ever)
    return { asking: 'at once', ...inLook, questions: inLook.news, tellings: inLook.news };
  const bare = looking(writes, took.news, 0, took.look);
  const cycle = cycleOf(writes, took.news + took.seat * seats, took.pair * seats);
  const isTooMuch = cycle.ms > patienceMs + longestRestMs || seats * writes * cycle.ms > thorough.ever;
  if (isTooMuch) return { asking: 'not', ...bare, questions: 0, tellings: 1 / Math.max(1 / bare.news, took.news) };
  return { asking: 'later', ...bare, questions: 1 / cycle.ms, tellings: 1 / cycle.ms };
}

/** Looks that take `fixed`, and `each` for every change that they find. */
function looking(writes: number, fixed: number, each: number, lookMs: number) {
  if (writes === 0) return { batch: 1, news: 0, inVain: 1 / Math.max(longestPauseMs, lookMs) };
  let batch = 1;
  for (let i = 0; i < 200 && batch < 1e6; i++) batch = batchOf(writes * rest * (fixed + each * batch));
  const busyMs = rest * (fixed + each * batch);
  const isQuietAfter = Math.exp(-writes * busyMs);
  const news = writes / batch;
  return { batch, news, inVain: news * isQuietAfter * looksWhileWaiting(writes, busyMs, lookMs) };
}

/** How often a server looks in vain after a rest in which nothing was new, until the next change. */
function looksWhileWaiting(writes: number, from: number, lookMs: number): number {
  let looks = 0;
  for (let t = from; writes * (t - from) < 12 && looks < 1e6; t += Math.max(pauseAfter(t, longestPauseMs), lookMs)) {
    looks += Math.exp(-writes * (t - from));
  }
  return looks;
}

/** How long it takes until a question that is asked beside the looks is asked again. */
function cycleOf(writes: number, fixed: number, each: number): { readonly ms: number } {
  let ms = fixed;
  for (let i = 0; i < 200 && ms < 1e6; i++) {
    const settle = fixed + each * writes * ms;
    ms = settle + Math.min(2 * settle, longestRestMs);
  }
  return { ms };
}

/**
 * Looks at the primary, each for all pulls that have come since the last one, which began a fixed time before.
 * @param poked pulls after pokes, in a second: as many at a time as a server has clients that see a write
 * @param others pulls that come at any time
 */
function primaryLooksOf(
  work: Workload,
  { servers, standbys }: Deployment,
  [poked, others]: readonly [poked: number, others: number],
  { spreadMs }: Assumptions,
): Pick<Rates, 'primaryLooks' | 'primaryNews'> {
  if (standbys === 0 || poked + others === 0) return { primaryLooks: 0, primaryNews: 0 };
  const together = othersOf(work, servers);
  const looksEach = 1 + together / batchOf((paceMs * together) / Math.max(spreadMs, paceMs));
  const asked = (poked / (1 + together)) * looksEach + others;
  // Bursts that overlap share all their looks: a server looks in the share of time in which one is under way.
  const primaryLooks = (1000 / paceMs) * servers * (1 - Math.exp((-paceMs * asked) / servers / 1000));
  // Each shows whatever has been written since the one before.
  return { primaryLooks, primaryNews: primaryLooks * (1 - Math.exp((-work.writes * servers) / primaryLooks)) };
}

/** How many clients of the same server see a write that one of them sees. */
function othersOf({ audience, isRouted }: Workload, servers: number): number {
  return (audience - 1) / (isRouted ? 1 : servers);
}

/**
 * Those who are poked about one write share a statement if they ask while the last one runs, and if they have seen the
 * same before: nothing was written between their last pulls.
 */
function statementsEach(work: Workload, servers: number, took: Durations, { spreadMs }: Assumptions): number {
  const others = othersOf(work, servers);
  const batch = spreadMs === 0 ? 1 + others : batchOf((others * took.delta) / spreadMs);
  const haveSeenTheSame = Math.exp((-work.writes / 1000) * (spreadMs / 3));
  return haveSeenTheSame / batch + (1 - haveSeenTheSame);
}
