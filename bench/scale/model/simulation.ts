/**
 * Simulates at random what `rates.ts` calculates by formulas: writes arrive, servers poll, query and poke, clients
 * pull, and pulls share statements by the server's rules. Processors are never short here, nor in the formulas.
 */

import { quick, thorough } from '../../../src/pokes/plan-pokes.js';
import { PollSchedule } from '../../../src/pokes/poll-schedule.js';
import { minIntervalMs } from '../../../src/replicas/throttled-poller.js';
import type { Random } from '../../../test/stress/oracle/random.js';
import { Agenda } from './agenda.js';
import { longestRestMs, type Rates } from './rates.js';
import { Sharing } from './sharing.js';
import type { Assumptions, Deployment, Durations, Workload } from './workload.js';

export interface SimulationOptions {
  readonly work: Workload;
  readonly deployment: Deployment;
  readonly took: Durations;
  readonly assumed: Assumptions;
  readonly seconds: number;
  readonly random: Random;
}

type Counts = { -readonly [Kind in keyof Rates]: number };

/** Returns the mean rates per second on all servers. It leaves out first pulls because nothing depends on them. */
export function simulate({ work, deployment, took, assumed, seconds, random }: SimulationOptions): Rates {
  const agenda = new Agenda();
  const counts = emptyCounts();
  const log: number[] = [];
  const teams = Math.round(work.clients / work.audience);
  const shared = {
    agenda,
    counts,
    log,
    took,
    random,
    spreadMs: assumed.spreadMs,
    readsStandby: deployment.standbys > 0,
  };
  const servers = Array.from({ length: deployment.servers }, () => new Server(shared, work.seats === 'user'));
  for (let i = 0; i < teams * work.audience; i++) {
    const team = i % teams;
    const server = work.isRouted ? servers[team % servers.length]! : random.pick(servers);
    server.add(team);
  }
  every(agenda, random, work.writes / 1000, () => {
    log.push(random.between(0, teams - 1));
    counts.pushes++;
  });
  every(agenda, random, ((work.opensPerHour / 3600) * work.clients) / 1000, () => {
    counts.opens++;
    random.pick(servers).pullInVain();
  });
  for (const server of servers) server.look();
  agenda.runUntil(1000 * seconds);
  return Object.fromEntries(Object.entries(counts).map(([kind, count]) => [kind, count / seconds])) as unknown as Rates;
}

/** Repeats the work at random times. */
function every(agenda: Agenda, random: Random, perMs: number, work: () => void): void {
  if (perMs === 0) return;
  const next = () =>
    agenda.after(-Math.log(1 - random.next()) / perMs, () => {
      work();
      next();
    });
  next();
}

interface Shared {
  readonly agenda: Agenda;
  readonly counts: Counts;
  /** The team that each write affects. */
  readonly log: readonly number[];
  readonly took: Durations;
  readonly random: Random;
  readonly spreadMs: number;
  readonly readsStandby: boolean;
}

/** The part of the log that a client has seen, and the client's state. */
interface Client {
  seen: number;
  isPoked: boolean;
  isBusy: boolean;
}

class Server {
  readonly #shared: Shared;
  readonly #isByUser: boolean;
  readonly #teams = new Map<number, Client[]>();
  readonly #times = new PollSchedule(() => 200);
  #clients = 0;
  #base = 0;
  /** The log position of the first change whose query was postponed, and if such a query is running. */
  #debt: number | undefined;
  #isSettling = false;
  readonly #deltas: Sharing<Client>;
  readonly #looks: Sharing<undefined>;
  /** The time of the previous or next poll of the primary, and the end of the log that it saw. */
  #primaryLookAt = Number.NEGATIVE_INFINITY;
  #primarySeen = 0;

  constructor(shared: Shared, isByUser: boolean) {
    this.#shared = shared;
    this.#isByUser = isByUser;
    const { agenda, took } = shared;
    this.#deltas = new Sharing(agenda, took.delta, (clients) => this.#answer(clients));
    this.#looks = new Sharing(agenda, took.look, () => {
      shared.counts.looks++;
      return () => {};
    });
  }

  add(team: number): void {
    const clients = this.#teams.get(team) ?? [];
    clients.push({ seen: 0, isPoked: false, isBusy: false });
    this.#teams.set(team, clients);
    this.#clients++;
  }

  pullInVain(): void {
    this.#shared.counts.unchanged++;
    this.#lookAtPrimary();
    this.#looks.ask(undefined);
  }

  look(): void {
    const { agenda, counts, log, took } = this.#shared;
    this.#times.begin(agenda.now);
    const from = this.#base;
    const rows = log.length - from;
    this.#base = log.length;
    const pairs = this.#seats * rows;
    const isLater = rows > 0 && (this.#debt !== undefined || this.#isSettling || pairs > quick.anyVersion);
    const isAsked = rows > 0 && !isLater;
    if (rows > 0) counts.news++;
    else counts.looksInVain++;
    const ms = rows === 0 ? took.look : took.news + (isAsked ? this.#ask(rows) : 0);
    const changes = log.slice(from);
    agenda.after(ms, () => {
      if (isAsked) this.#tell(changes);
      else if (pairs > thorough.anyVersion) this.#tell('all');
      else if (isLater) this.#postpone(from);
      this.#times.succeed(agenda.now, rows > 0);
      agenda.at(Math.max(agenda.now, this.#times.due()), () => this.look());
    });
  }

  get #seats(): number {
    return this.#isByUser ? this.#clients : this.#teams.size;
  }

  /** @returns the time that a query for affected cohorts takes for this many rows */
  #ask(rows: number): number {
    const { counts, took } = this.#shared;
    counts.seats += this.#seats;
    counts.pairs += this.#seats * rows;
    return this.#seats * (took.seat + took.pair * rows);
  }

  #tell(changes: readonly number[] | 'all'): void {
    const teams = changes === 'all' ? this.#teams.keys() : new Set(changes);
    for (const team of teams) for (const client of this.#teams.get(team) ?? []) this.#poke(client);
  }

  /** @param from The log position of the first change to postpone. */
  #postpone(from: number): void {
    this.#debt ??= from;
    if (!this.#isSettling) this.#settle();
  }

  #settle(): void {
    const { agenda, log, took } = this.#shared;
    this.#isSettling = this.#debt !== undefined;
    if (!this.#isSettling) return;
    const changes = log.slice(this.#debt);
    this.#debt = undefined;
    const isTooMuch = this.#seats * changes.length > thorough.anyVersion;
    const ms = took.news + (isTooMuch ? 0 : this.#ask(changes.length));
    agenda.after(ms, () => this.#tell(isTooMuch ? 'all' : changes));
    agenda.after(ms + Math.min(2 * ms, longestRestMs), () => this.#settle());
  }

  #poke(client: Client): void {
    this.#shared.counts.pokes++;
    client.isPoked = true;
    if (!client.isBusy) this.#pullSoon(client);
  }

  #pullSoon(client: Client): void {
    const { agenda, counts, random, spreadMs } = this.#shared;
    client.isBusy = true;
    agenda.after(spreadMs * random.next(), () => {
      client.isPoked = false;
      counts.pulls++;
      this.#lookAtPrimary();
      this.#deltas.ask(client);
    });
  }

  /** With standbys. Here, pulls do not wait for it. */
  #lookAtPrimary(): void {
    const { agenda, counts, log, readsStandby } = this.#shared;
    if (!readsStandby || this.#primaryLookAt > agenda.now) return;
    this.#primaryLookAt = Math.max(agenda.now, this.#primaryLookAt + minIntervalMs);
    agenda.at(this.#primaryLookAt, () => {
      counts.primaryLooks++;
      if (this.#primarySeen < log.length) counts.primaryNews++;
      this.#primarySeen = log.length;
    });
  }

  /** One statement serves all clients that have seen the same log. */
  #answer(clients: readonly Client[]): () => void {
    const { counts, log } = this.#shared;
    const seen = log.length;
    counts.statements += new Set(clients.map((client) => client.seen)).size;
    return () => {
      for (const client of clients) {
        client.seen = seen;
        client.isBusy = false;
        if (client.isPoked) this.#pullSoon(client);
      }
    };
  }
}

function emptyCounts(): Counts {
  return {
    pushes: 0,
    looksInVain: 0,
    news: 0,
    seats: 0,
    pairs: 0,
    pokes: 0,
    pulls: 0,
    statements: 0,
    unchanged: 0,
    looks: 0,
    primaryLooks: 0,
    primaryNews: 0,
    opens: 0,
    firstPulls: 0,
  };
}
