/** Runs writers, pushing clients and pulling clients against the code under test, and judges every response. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import type { Replication } from '../../support/replication.js';
import { type Actor, createClients, type Pace, pullOn } from './actors.js';
import { Bench } from './bench.js';
import type { Send } from './client.js';
import { type Code, loadCode } from './code.js';
import { Gate } from './gate.js';
import type { Judge } from './judge.js';
import { failNowAndThen, note, noteOn, pauseAndResume } from './lag.js';
import { push } from './pusher.js';
import { Random } from './random.js';
import { Report } from './report.js';
import { type ViewSpec, viewSpecs } from './views.js';
import { transactionsOf, type WorkloadCounts, write } from './workload.js';

export interface OracleOptions {
  readonly seed: number;
  readonly transactions: number;
  /** A connection string for a cluster in which databases can be created. */
  readonly cluster: string;
  /** The cluster's standbys, which then serve reads too. */
  readonly replication?: Replication;
  /** True if one of the servers reaches its database through a pgbouncer. Default false. */
  readonly isPooled?: boolean;
  /**
   * True if nodes of the primary read from the standbys, which are killed, stopped, promoted and rebuilt during the
   * run. Otherwise the standbys have their own nodes. Default false.
   */
  readonly readsFromStandbys?: boolean;
  readonly code?: Code;
  readonly views?: readonly ViewSpec[];
  /** The number of users who pull at the same time. Default 18. */
  readonly crowd?: number;
  /** The longest pause of a writer between transactions, in milliseconds. Default 60. */
  readonly pauseMs?: number;
  /** The number of comparisons of everything while nothing happens, besides the final one. Default 4. */
  readonly quietChecks?: number;
  readonly stopAtDifference?: boolean;
  readonly progress?: (message: string) => void;
}

export interface OracleResult {
  readonly report: Report;
  readonly workload: WorkloadCounts;
  readonly seconds: number;
}

const writers = 6;
/** One of them holds its transactions open for up to this time. */
const holdMs = 1000;

export async function runOracle(options: OracleOptions): Promise<OracleResult> {
  const { cluster, replication, seed, code = await loadCode(), views = viewSpecs, crowd = 18 } = options;
  const { readsFromStandbys = false, isPooled = false } = options;
  const bench = new Bench(cluster, replication);
  try {
    const report = new Report();
    const url = await bench.createApplication(crowd);
    const random = new Random(seed);
    const nodes = { code, url, specs: views, report, readsFromStandbys, isPooled };
    const send = await bench.startNodes({ ...nodes, random: random.stream(200) });
    // A standby that serves reads lags by seconds at most.
    const judge = await bench.createJudge(url, views, report, replication === undefined || readsFromStandbys);
    const actors = createClients({ random, send, judge, report, crowd });
    const clients = await Promise.all(Array.from({ length: writers }, () => bench.connect(url)));
    const reader = await bench.connect(url);
    const parts = { code, url, report, send, judge, random, actors, writers: clients, reader };
    const result = await new Run(options, parts).run();
    report.counts.consistencyChecks = await bench.countConsistencyChecks();
    return result;
  } finally {
    await bench.close();
  }
}

interface Parts {
  readonly code: Code;
  readonly url: string;
  readonly report: Report;
  readonly send: Send;
  readonly judge: Judge;
  readonly random: Random;
  readonly actors: readonly Actor[];
  readonly writers: readonly Client[];
  readonly reader: Client;
}

class Run {
  readonly #options: OracleOptions;
  readonly #parts: Parts;
  readonly #gate = new Gate();
  readonly #workload: WorkloadCounts = { committed: 0, rolledBack: 0, failed: 0, truncated: 0 };
  readonly #pushed = new Map<string, number>();
  #broken = false;

  constructor(options: OracleOptions, parts: Parts) {
    this.#options = options;
    this.#parts = parts;
  }

  async run(): Promise<OracleResult> {
    const started = Date.now();
    const work = [...this.#write(), ...this.#push(), ...this.#pull(), ...this.#lag()];
    const all = Promise.all(work).catch((error: unknown) => {
      this.#broken = true;
      throw error;
    });
    await Promise.all([all, this.#pauseNowAndThen()]);
    await this.#checkQuiet();
    await this.#checkEffects();
    return { report: this.#parts.report, workload: this.#workload, seconds: (Date.now() - started) / 1000 };
  }

  readonly #isOver = (): boolean => {
    const { transactions, stopAtDifference } = this.#options;
    const stops = stopAtDifference === true && this.#parts.report.differenceCount > 0;
    return this.#broken || stops || transactionsOf(this.#workload) >= transactions;
  };

  #write(): Promise<void>[] {
    const { writers, random } = this.#parts;
    const { pauseMs = 60, replication, readsFromStandbys } = this.#options;
    const waits = replication !== undefined && !readsFromStandbys;
    const common = { gate: this.#gate, counts: this.#workload, isOver: this.#isOver, pauseMs };
    return writers.map((client, i) =>
      write({
        ...common,
        client,
        random: random.stream(i),
        holdMs: i === 0 ? holdMs : 0,
        isSynchronous: waits && i % 3 === 1,
      }),
    );
  }

  #push(): Promise<void>[] {
    const { actors, send, report, random } = this.#parts;
    const common = { send, report, gate: this.#gate, isOver: this.#isOver };
    const clients = actors.flatMap((actor) => actor.clients);
    const pushing = clients.flatMap((client) => [...client.mutating].map((clientID) => ({ client, clientID })));
    return pushing.map(async ({ client: { userID, clientGroupID, confirmed }, clientID }, i) => {
      const onConfirmed = (n: number) => confirmed.set(clientID, n);
      const own = { userID, clientGroupID, clientID, random: random.stream(50 + i), onConfirmed };
      const pushed = await push({ ...common, ...own });
      this.#pushed.set(clientID, pushed);
    });
  }

  #pull(): Promise<void>[] {
    const pace: Pace = { gate: this.#gate, isOver: this.#isOver };
    return this.#parts.actors.map((actor) => pullOn(actor, pace));
  }

  #lag(): Promise<void>[] {
    const { code, url, random } = this.#parts;
    const { replication, readsFromStandbys } = this.#options;
    if (!replication) return [];
    const common = { gate: this.#gate, isOver: this.#isOver };
    const trouble = readsFromStandbys ? failNowAndThen : pauseAndResume;
    return [
      noteOn(code, url, { ...common, random: random.stream(300) }),
      ...replication.standbys.map((one, i) => trouble(one, { ...common, random: random.stream(301 + i) })),
    ];
  }

  async #pauseNowAndThen(): Promise<void> {
    const { transactions, quietChecks = 4, progress = () => {} } = this.#options;
    for (let check = 1; !this.#isOver(); ) {
      await sleep(50);
      if (transactionsOf(this.#workload) < (check * transactions) / quietChecks) continue;
      check++;
      await this.#gate.closed(() => this.#checkQuiet());
      const { counts, differenceCount } = this.#parts.report;
      progress(`${transactionsOf(this.#workload)} transactions, ${counts.pulls} pulls, ${differenceCount} differences`);
    }
  }

  async #checkQuiet(): Promise<void> {
    const { actors, judge, reader, code, url } = this.#parts;
    if (this.#options.replication) {
      // A standby can be sure to show everything in a primary's cookie only after it has replayed a later transaction.
      await note(code, url);
      await this.#options.replication.caughtUp();
    }
    for (const client of actors.flatMap(({ clients }) => clients)) {
      await client.pull();
      await judge.checkQuiet(client, reader);
    }
    // All have the same base by now, so simultaneous pulls are answered together.
    for (const { step } of actors) await step();
  }

  /** Checks that each mutation has run once. */
  async #checkEffects(): Promise<void> {
    const { reader, report } = this.#parts;
    for (const [clientID, pushed] of this.#pushed) {
      const { rows } = await reader.query<{ n: number; times: number }>(
        `select n, count(e.n)::int as times from generate_series(1, $2) n
         left join effect e using (n) where e.client_id = $1 or e.n is null
         group by n having count(e.n) <> 1`,
        [clientID, pushed],
      );
      for (const { n, times } of rows) report.object('effects', clientID, `mutation ${n} has run ${times} times`);
    }
  }
}
