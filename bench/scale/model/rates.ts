/** Calculates the rates of operations by formulas. Pure. `simulation.ts` simulates them instead. */

import { quick, thorough } from '../../../src/pokes/plan-pokes.js';
import { pauseAfter } from '../../../src/pokes/poll-schedule.js';
import { maxWaitMs } from '../../../src/pokes/postponed-views.js';
import { minIntervalMs } from '../../../src/replicas/throttled-poller.js';
import type { Assumptions, Deployment, Durations, Workload } from './workload.js';

/** How servers find the clients that a write affects. */
export type Asking =
  /** In the poll that finds the write. */
  | 'at once'
  /** In the background, at most a few seconds later. */
  | 'later'
  /** Not at all. There are too many cohorts and changes, so all clients are poked. */
  | 'not';

/** Operations per second on all servers together. */
export interface Rates {
  readonly pushes: number;
  /** Polls of the poke notifiers that find nothing, and polls that find changes. */
  readonly looksInVain: number;
  readonly news: number;
  /** Cohorts in queries for affected cohorts, and pairs of a changed row and a cohort. */
  readonly seats: number;
  readonly pairs: number;
  readonly pokes: number;
  /** Pulls after pokes, and the statements that they share. */
  readonly pulls: number;
  readonly statements: number;
  /** Pulls that find no change, and the polls that they share. */
  readonly unchanged: number;
  readonly looks: number;
  /** With standbys: polls of the primary, which all pulls share, and those of them that find changes. */
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
 * The mean size of batches that run one after the other. Each batch takes all requests that arrived during the previous
 * one. A request that arrives while no batch runs starts one immediately.
 * @param arrivals The mean number of arrivals during one batch.
 */
export function batchOf(arrivals: number): number {
  return arrivals + Math.exp(-arrivals);
}

/** After a poll that finds changes, a server rests for twice as long as the poll took. */
const rest = 3;
/** The longest pause between two polls, in milliseconds. */
const longestPauseMs = 200;
/** The longest rest after a background query for affected cohorts, in milliseconds. */
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
  // A client that has been poked and has not yet pulled pulls once, regardless of further pokes.
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

/** The probability that a client is among those poked. @param share The share of all clients that see a write. */
function tellsOne({ asking, tellings }: LooksOfOne, writes: number, share: number): number {
  return asking === 'not' ? 1 : 1 - (1 - share) ** (writes / (tellings || 1));
}

interface LooksOfOne {
  readonly asking: Asking;
  /** Per millisecond: empty polls, polls that find changes, queries for affected cohorts, and pokes of clients. */
  readonly inVain: number;
  readonly news: number;
  readonly questions: number;
  readonly tellings: number;
}

/** @param writes per millisecond */
function looksOf(writes: number, seats: number, took: Durations): LooksOfOne {
  const inLook = looking(writes, took.news + took.seat * seats, took.pair * seats, took.look);
  if (seats * inLook.batch <= quick.anyVersion) {
    return { asking: 'at once', ...inLook, questions: inLook.news, tellings: inLook.news };
  }
  const bare = looking(writes, took.news, 0, took.look);
  const cycle = cycleOf(writes, took.news + took.seat * seats, took.pair * seats);
  const isTooMuch = cycle.ms > maxWaitMs + longestRestMs || seats * writes * cycle.ms > thorough.anyVersion;
  if (isTooMuch) return { asking: 'not', ...bare, questions: 0, tellings: 1 / Math.max(1 / bare.news, took.news) };
  return { asking: 'later', ...bare, questions: 1 / cycle.ms, tellings: 1 / cycle.ms };
}

/** The rate of polls that take `fixed`, and `each` for every change that they find. */
function looking(writes: number, fixed: number, each: number, lookMs: number) {
  if (writes === 0) return { batch: 1, news: 0, inVain: 1 / Math.max(longestPauseMs, lookMs) };
  let batch = 1;
  for (let i = 0; i < 200 && batch < 1e6; i++) batch = batchOf(writes * rest * (fixed + each * batch));
  const busyMs = rest * (fixed + each * batch);
  const isQuietAfter = Math.exp(-writes * busyMs);
  const news = writes / batch;
  return { batch, news, inVain: news * isQuietAfter * looksWhileWaiting(writes, busyMs, lookMs) };
}

/** The number of empty polls between a rest without changes and the next change. */
function looksWhileWaiting(writes: number, from: number, lookMs: number): number {
  let looks = 0;
  for (let t = from; writes * (t - from) < 12 && looks < 1e6; t += Math.max(pauseAfter(t, longestPauseMs), lookMs)) {
    looks += Math.exp(-writes * (t - from));
  }
  return looks;
}

/** The time between two background queries for affected cohorts. */
function cycleOf(writes: number, fixed: number, each: number): { readonly ms: number } {
  let ms = fixed;
  for (let i = 0; i < 200 && ms < 1e6; i++) {
    const settle = fixed + each * writes * ms;
    ms = settle + Math.min(2 * settle, longestRestMs);
  }
  return { ms };
}

/**
 * The rates of polls of the primary. Each serves all pulls since the previous one, which began a fixed time earlier.
 * @param poked Pulls per second after pokes. As many arrive together as a server has clients that see a write.
 * @param others Pulls per second that arrive at any time.
 */
function primaryLooksOf(
  work: Workload,
  { servers, standbys }: Deployment,
  [poked, others]: readonly [poked: number, others: number],
  { spreadMs }: Assumptions,
): Pick<Rates, 'primaryLooks' | 'primaryNews'> {
  if (standbys === 0 || poked + others === 0) return { primaryLooks: 0, primaryNews: 0 };
  const together = othersOf(work, servers);
  const looksEach = 1 + together / batchOf((minIntervalMs * together) / Math.max(spreadMs, minIntervalMs));
  const asked = (poked / (1 + together)) * looksEach + others;
  // Overlapping bursts share all their polls, so a server polls for the share of time in which a burst is under way.
  const primaryLooks = (1000 / minIntervalMs) * servers * (1 - Math.exp((-minIntervalMs * asked) / servers / 1000));
  // Each finds what was written since the previous one.
  return { primaryLooks, primaryNews: primaryLooks * (1 - Math.exp((-work.writes * servers) / primaryLooks)) };
}

/** The number of other clients on a server that see a write that one of its clients sees. */
function othersOf({ audience, isRouted }: Workload, servers: number): number {
  return (audience - 1) / (isRouted ? 1 : servers);
}

/**
 * Clients poked about one write share a statement if they pull while the previous one runs, and if their cookies are
 * equal: nothing was written between their previous pulls.
 */
function statementsEach(work: Workload, servers: number, took: Durations, { spreadMs }: Assumptions): number {
  const others = othersOf(work, servers);
  const batch = spreadMs === 0 ? 1 + others : batchOf((others * took.delta) / spreadMs);
  const haveSeenTheSame = Math.exp((-work.writes / 1000) * (spreadMs / 3));
  return haveSeenTheSame / batch + (1 - haveSeenTheSame);
}
