/** Runs one case from beginning to end. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Replication } from '../../support/replication.js';
import type { Code } from '../oracle/code.js';
import type { Case } from './case.js';
import { FailedPull, FuzzClient, type Outcome } from './client.js';
import type { CaseDatabase, Databases } from './database.js';
import { Difference, type DifferenceKind, InvalidCase } from './difference.js';
import { Follower, type JudgedServer } from './follower.js';
import { Judge } from './judge.js';
import { Subscribers } from './listeners.js';
import { refusalOf } from './refusals.js';
import { type Served, type ServingOptions, servable, serve } from './serving.js';
import { SharedStatements } from './shared.js';
import { clientCount, type Step } from './steps.js';
import { applyEnvironment } from './surroundings.js';
import type { Tally } from './tally.js';
import { textOf } from './tree.js';
import { Truth } from './truth.js';
import { type FuzzView, objectionsTo } from './view.js';
import { takesArgs } from './wants.js';
import { Writers } from './writers.js';

export interface RunOptions {
  readonly databases: Databases;
  readonly code: Code;
  readonly tally: Tally;
  /** The maximum number of a case's views that are served. */
  readonly views: number;
  /** The only kind of difference to look for. */
  readonly kind?: DifferenceKind;
  /** True for differences to ignore. See `idOf`. */
  readonly passes: (difference: Difference) => boolean;
  /** The cluster's standby. The second server then reads from it, and only one case can run at a time. */
  readonly replication?: Replication;
}

/**
 * @throws Difference at the first one
 * @throws InvalidCase if there is nothing to run
 */
export async function runCase(value: Case, options: RunOptions): Promise<void> {
  const database = await options.databases.take();
  try {
    await prepare(value, database);
    await new CaseRun(value, options, database).run();
  } finally {
    await options.databases.give(database);
  }
}

async function prepare({ setup, rows, environment }: Case, database: CaseDatabase): Promise<void> {
  const client = await database.connect();
  for (const statement of setup.items) {
    await client.query(textOf(statement)).catch((error: Error) => {
      throw new InvalidCase(`${error.message}:\n${textOf(statement)}`);
    });
  }
  for (const statement of rows.items) await client.query(textOf(statement)).catch(() => {});
  await applyEnvironment(client, environment);
}

class CaseRun {
  readonly #case: Case;
  readonly #options: RunOptions;
  readonly #database: CaseDatabase;
  readonly #serving: ServingOptions;
  readonly #writers: Writers;
  readonly #clients = Array.from({ length: clientCount }, (_, i) => new FuzzClient(i === 2 ? 1 : 0, `group ${i}`));
  readonly #errors: string[] = [];
  /** Started at their first request. */
  readonly #servers = new Map<number, JudgedServer>();
  readonly #follower: Follower | undefined;
  /** The server that made a client's cookie. */
  readonly #cookieServers = new Map<FuzzClient, number>();
  readonly #subscribers = new Subscribers({
    server: (server) => this.#server(server),
    pull: (client, server) => this.#pull(client, server),
    compare: (client) => this.#judge.compare(client, 'missed poke'),
    instanced: () => this.#instanced,
  });
  /** All tables have primary keys. */
  #keysAreThere = true;
  #truth!: Truth;
  #judge!: Judge;
  #shared!: SharedStatements;

  constructor(value: Case, options: RunOptions, database: CaseDatabase) {
    this.#case = value;
    this.#options = options;
    this.#database = database;
    this.#writers = new Writers(database, options.tally);
    this.#follower = options.replication && new Follower(options.replication, database);
    this.#serving = {
      code: options.code,
      database,
      checksConsistency: value.environment.checksConsistency ?? false,
      // Without a primary's answer, a standby need not have answered to new wants.
      hasInstances: !options.replication && (value.environment.hasInstances ?? false),
      onRefused: (view, message) => this.#refused(view, message),
      onError: (message, error) => this.#errors.push(`${message}: ${JSON.stringify(error)}`),
    };
  }

  async run(): Promise<void> {
    const { tally, views: maxViews } = this.#options;
    tally.cases++;
    this.#truth = new Truth(await this.#database.connectReader(), this.#writers, tally);
    for (const view of this.#case.views) if (this.#truth.views.length < maxViews) await this.#truth.admit(view);
    if (this.#truth.views.length === 0) throw new InvalidCase('no view can be read');
    this.#judge = new Judge({ truth: this.#truth, database: this.#database, serving: this.#serving, tally });
    this.#shared = new SharedStatements({ ...this.#serving, truth: this.#truth, tally });
    await this.#start(true);
    tally.views += this.#truth.views.length;
    this.#refuseIllegal();
    const { kind } = this.#options;
    for (const step of this.#case.steps) if (concerns(step, kind)) await this.#perform(step);
    if (this.#follower) {
      for (const client of this.#clients) for (const server of [1, 0]) await this.#pull(client, server);
    }
    if (kind === undefined || kind === 'chance') {
      await this.#judge.checkChance(() => this.#writers.reorder());
    }
  }

  /** Restarts the servers with the accepted views. */
  async #start(migrates: boolean): Promise<void> {
    for (const { sync, pool } of this.#servers.values()) {
      await sync.close();
      await pool.end();
    }
    this.#servers.clear();
    const { views, served } = await this.#servable(migrates);
    for (const view of this.#truth.views) if (!views.includes(view)) this.#truth.forget(view);
    this.#servers.set(0, this.#onPrimary(served));
    await this.#shared.start();
  }

  /** If migrating is necessary and should not be, that is a difference, which is ignored if already known. */
  async #servable(migrates: boolean): ReturnType<typeof servable> {
    try {
      return await servable(this.#serving, this.#truth.views, migrates);
    } catch (error) {
      if (!(error instanceof Difference) || migrates) throw error;
      this.#object(error);
      return servable(this.#serving, this.#truth.views, true);
    }
  }

  async #server(server: number): Promise<JudgedServer> {
    const running = this.#servers.get(server);
    if (running) return running;
    const { views } = this.#truth;
    const started = this.#isStandby(server)
      ? await this.#follower!.serve(this.#serving, views, this.#options.tally)
      : this.#onPrimary(await serve(this.#serving, views));
    this.#servers.set(server, started);
    return started;
  }

  #onPrimary(served: Served): JudgedServer {
    return { ...served, truth: this.#truth, judge: this.#judge };
  }

  /** The views with arguments. */
  get #instanced(): readonly FuzzView[] {
    return this.#serving.hasInstances ? this.#truth.views.filter(takesArgs) : [];
  }

  #isStandby(server: number): boolean {
    return this.#follower !== undefined && server === 1;
  }

  #refused(view: FuzzView, message: string): void {
    const refusal = refusalOf(view, message, this.#keysAreThere);
    this.#options.tally.refuse(refusal);
    if (refusal.isNeedless) this.#object(new Difference('refused', refusal.reason, view));
  }

  #object(difference: Difference): void {
    if (!this.#options.passes(difference)) throw difference;
  }

  #refuseIllegal(): void {
    for (const view of this.#truth.views) {
      const illegal = objectionsTo(view).find(({ kind }) => kind === 'illegal');
      if (!illegal) continue;
      this.#object(new Difference('accepted', illegal.reason, view));
      this.#truth.forget(view);
    }
  }

  async #perform(step: Step): Promise<void> {
    if (step.kind === 'transaction') return this.#writers.perform(step);
    if (step.kind === 'pull') return this.#pull(this.#clients[step.client]!, step.server, step.commitAt);
    if (step.kind === 'listen') return this.#subscribe(this.#clients[step.client]!, this.#follower ? 0 : step.server);
    if (step.kind === 'want') return this.#want(this.#clients[step.client]!, step.users);
    if (step.kind === 'cohorts') return this.#shared.compare(step.plan);
    if (step.kind === 'poll') return this.#subscribers.poll(this.#committingAt(step.commitAt));
    await this.#writers.define(step.statements);
    if (step.dropsKey) this.#keysAreThere = false;
    // A server may not have detected it yet. Its current response does not count, and its errors must not persist.
    await this.#clients[0]!.pull((await this.#server(0)).sync, this.#instanced).catch(() => {});
    await this.#truth.refresh();
    await this.#start(step.needsMigrate);
    if (this.#truth.views.length > 0) await this.#pull(this.#clients[0]!, 1);
  }

  async #want(client: FuzzClient, users: readonly number[]): Promise<void> {
    client.wanted = users;
    try {
      await this.#subscribers.renew(client);
    } catch (error) {
      if (!(error instanceof FailedPull)) throw error;
      await this.#afterFailure(client, error);
    }
  }

  async #subscribe(client: FuzzClient, server: number): Promise<void> {
    try {
      await this.#subscribers.add(client, server);
    } catch (error) {
      if (!(error instanceof FailedPull)) throw error;
      await this.#afterFailure(client, error);
    }
  }

  /**
   * @param commitAt The statement of the pull before which the others commit. If given, a standby does not catch up
   *   first.
   */
  async #pull(client: FuzzClient, server: number, commitAt?: number): Promise<void> {
    const { sync, pool, judge, truth } = await this.#server(server);
    if (this.#isStandby(server) && commitAt === undefined) await this.#follower!.replay();
    pool.before = this.#committingAt(commitAt);
    this.#errors.length = 0;
    let outcome: Outcome;
    try {
      outcome = await client.pull(sync, this.#instanced);
    } catch (error) {
      if (!(error instanceof FailedPull)) throw error;
      await this.#afterFailure(client, error, truth);
      return;
    } finally {
      pool.before = undefined;
    }
    this.#options.tally.pulls[outcome]++;
    // A standby may not show yet what a primary's cookie has seen, or not know that it does. It then answers
    // "unchanged".
    if (outcome === 'unchanged' && this.#isStandby(server) && this.#cookieServers.get(client) !== server) return;
    if (outcome !== 'unchanged') this.#cookieServers.set(client, server);
    if (!(await this.#isRight(client, judge))) return this.#pull(client, server);
    const failed = this.#errors.find((message) => message.startsWith('A delta failed'));
    if (failed !== undefined) throw new Difference('failed delta', failed, this.#onlyView());
    const inconsistency = this.#errors.find((message) => message.startsWith("A client's data does not match"));
    if (inconsistency !== undefined) throw new Difference('consistency check', inconsistency, this.#onlyView());
  }

  /** False if the server need not have detected yet why the client is wrong. Compares again when it must have. */
  async #isRight(client: FuzzClient, judge: Judge): Promise<boolean> {
    try {
      await judge.compare(client);
      return true;
    } catch (error) {
      const leftMs = this.#writers.unnoticedMs();
      if (!(error instanceof Difference) || leftMs < 0) throw error;
      await sleep(leftMs);
      return false;
    }
  }

  #committingAt(statement: number | undefined): () => Promise<void> {
    let remaining = statement ?? Number.NaN;
    return async () => {
      if (remaining-- === 0) await this.#writers.commitOpen();
    };
  }

  /** If a view cannot be read any more, pulls may fail. */
  async #afterFailure(client: FuzzClient, error: FailedPull, truth: Truth = this.#truth): Promise<void> {
    // A join of many tables can take longer than a pull may.
    if (this.#errors.some((message) => message.includes('No row came within')))
      throw new InvalidCase('a pull takes too long');
    const before = truth.views;
    for (const view of before) {
      for (const user of new Set([client.user, ...client.wanted])) {
        if (!(await truth.rows(view, user, client.user))) this.#truth.forget(view);
      }
    }
    if (truth.views.length === before.length) {
      throw new Difference('failed pull', `${error.message}\n${this.#errors.join('\n')}`, this.#onlyView());
    }
    await this.#start(false);
    await this.#subscribers.reconnect();
    await this.#pull(client, 0);
  }

  #onlyView(): FuzzView | undefined {
    return this.#truth.views.length === 1 ? this.#truth.views[0] : undefined;
  }
}

/** True if a step must be performed when looking for only one kind of difference. */
function concerns({ kind: step }: Step, sought: DifferenceKind | undefined): boolean {
  if (sought === undefined || step === 'ddl') return true;
  if (sought === 'refused' || sought === 'accepted' || sought === 'setup') return false;
  return step === 'transaction' || step === 'want' || (step === 'cohorts') === (sought === 'cohorts');
}
