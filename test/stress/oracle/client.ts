/** A client that pulls, applies patches as the sync client does, and objects to every breach of the protocol. */
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Judge } from './judge.js';
import type { Report } from './report.js';
import { SeenTransactions } from './snapshots.js';
import { comparable, type Holding, type OracleView, type Role, type Viewer } from './views.js';

/** Sends a request to any node that can answer it. */
export type Send = (path: string, userID: string, body: object) => Promise<Sent>;

export interface Sent {
  readonly response: Response;
  /**
   * The data that the response shows: everything at the time of the request; everything that the client group has
   * written; or what a standby shows, if the standby can determine that.
   */
  readonly shows: 'current' | 'own writes' | 'any';
}

interface Answer {
  readonly cookie: { readonly order: number; readonly snapshot: string };
  readonly lastMutationIDChanges: Readonly<Record<string, number>>;
  readonly patch: readonly Op[];
}

type Op =
  | { readonly op: 'clear' }
  | { readonly op: 'del'; readonly key: string }
  | { readonly op: 'put'; readonly key: string; readonly value: unknown };

export interface ClientOptions {
  readonly userID: string;
  readonly clientGroupID: string;
  readonly send: Send;
  readonly judge: Judge;
  readonly report: Report;
}

export class PullingClient {
  readonly userID: string;
  readonly #send: Send;
  readonly #judge: Judge;
  readonly #report: Report;
  clientGroupID: string;
  holding: Holding = new Map();
  /** The role of its requests, and the role whose views it holds. */
  role: Role = '';
  #dataRole: Role = '';
  cookie: unknown = null;
  /** The group's lastMutationIDs, as confirmed so far. */
  #reportedIDs = new Map<string, number>();
  /** The group's clients whose mutations are checked. */
  readonly mutating = new Set<string>();
  /** Their newest confirmed mutations. */
  readonly confirmed = new Map<string, number>();

  constructor({ userID, clientGroupID, send, judge, report }: ClientOptions) {
    this.userID = userID;
    this.clientGroupID = clientGroupID;
    this.#send = send;
    this.#judge = judge;
    this.#report = report;
  }

  get viewer(): Viewer {
    return { userID: this.userID, role: this.#dataRole };
  }

  get name(): string {
    return `${this.userID} in ${this.clientGroupID}`;
  }

  /**
   * Takes over the rows of another client of the same user, with a new group, as a client with changed mutators does,
   * or with its own.
   */
  fork(other: PullingClient, clientGroupID: string): void {
    this.#startAs(clientGroupID);
    this.cookie = other.cookie;
    this.holding = new Map(other.holding);
    this.role = other.role;
    this.#dataRole = other.#dataRole;
    this.#report.counts.forks++;
  }

  /** Starts again without data. */
  restart(clientGroupID: string): void {
    this.#startAs(clientGroupID);
    this.cookie = null;
    this.holding = new Map();
  }

  #startAs(clientGroupID: string): void {
    if (clientGroupID !== this.clientGroupID) {
      this.mutating.clear();
      this.confirmed.clear();
    }
    this.clientGroupID = clientGroupID;
    this.#reportedIDs = new Map();
  }

  /**
   * @param cookie The cookie to send, instead of the previous response's.
   * @param before The minimum that the response must show; by default, the current data.
   */
  async pull(cookie: unknown = this.cookie, before?: SeenTransactions): Promise<void> {
    before ??= await this.#judge.snapshot();
    const confirmed = new Map(this.confirmed);
    const { role } = this;
    const { response, shows } = await this.#request(cookie);
    const minimum = shows === 'current' ? before : undefined;
    const seconds = response.headers.get('Retry-After');
    if (seconds !== null) {
      this.#report.deferrals++;
      await sleep(1000 * Number(seconds));
      return this.pull(cookie);
    }
    const text = await response.text();
    this.#report.counts.pulls++;
    if (response.status === 503 && shows === 'any') return void this.#report.ofStandbys.refused++;
    if (response.status !== 200) {
      const cause = this.#report.causes.get(response.headers.get('X-Request-ID')!);
      return this.#object('status', `${response.status} ${text.slice(0, 300)}\n${JSON.stringify(cause)}`);
    }
    const answer = JSON.parse(text) as Answer;
    if ('error' in answer) return this.#object('error', text);
    if (isDeepStrictEqual(answer.cookie, cookie)) {
      if (shows !== 'any') this.#checkConfirmed(confirmed);
      return this.#takeUnchanged(answer, minimum);
    }
    this.#checkOrder(cookie, answer.cookie);
    this.#takeMutationIDs(answer.lastMutationIDChanges);
    const hasChanged = role !== this.#dataRole;
    this.#dataRole = role;
    this.#takePatch(answer.patch, cookie === null, hasChanged);
    this.cookie = answer.cookie;
    this.#checkMutations();
    if (shows !== 'any') this.#checkConfirmed(confirmed);
    if (answer.cookie.snapshot.includes('~')) this.#report.ofStandbys.packed++;
    await this.#judge.checkAt(this, new SeenTransactions(answer.cookie.snapshot), minimum);
  }

  #request(cookie: unknown): Promise<Sent> {
    const { clientGroupID } = this;
    const body = { pullVersion: 1, profileID: 'p', clientGroupID, schemaVersion: this.role, cookie };
    return this.#send('/sync/pull', this.userID, body);
  }

  async #takeUnchanged(
    { cookie, patch, lastMutationIDChanges }: Answer,
    before: SeenTransactions | undefined,
  ): Promise<void> {
    if (before) this.#report.counts.unchanged++;
    else this.#report.ofStandbys.unchangedOrBehind++;
    if (patch.length > 0 || Object.keys(lastMutationIDChanges).length > 0) {
      this.#object('equal cookie', `with ${patch.length} ops and ${JSON.stringify(lastMutationIDChanges)}`);
    }
    if (before) await this.#judge.checkUnchanged(this, new SeenTransactions(cookie.snapshot), before);
  }

  #checkOrder(requested: unknown, returned: Answer['cookie']): void {
    if (!Number.isSafeInteger(returned.order) || compareCookies(returned, requested) <= 0) {
      this.#object('order', `asked with ${JSON.stringify(requested)}\nanswered  ${JSON.stringify(returned)}`);
    }
  }

  #takeMutationIDs(changes: Answer['lastMutationIDChanges']): void {
    for (const [id, lastMutationID] of Object.entries(changes)) {
      const reported = this.#reportedIDs.get(id) ?? 0;
      if (lastMutationID < reported)
        this.#object('lastMutationID', `of ${id} went from ${reported} to ${lastMutationID}`);
      this.#reportedIDs.set(id, lastMutationID);
    }
  }

  #takePatch(patch: readonly Op[], isFirst: boolean, hasChanged: boolean): void {
    const isReset = patch[0]?.op === 'clear';
    if (isReset) this.holding.clear();
    const isWhole = isReset || isFirst;
    this.#report.counts[isWhole ? 'resets' : 'deltas']++;
    if (hasChanged && !isWhole) this.#report.counts.changedViews++;
    this.#report.counts.ops += patch.length;
    const keys = new Set<string>();
    for (const op of isReset ? patch.slice(1) : patch) {
      if (op.op === 'clear') this.#object('clear', 'in the middle of a patch');
      else {
        if (keys.has(op.key)) this.#object('two ops for one key', op.key);
        keys.add(op.key);
        this.#takeOp(op, isWhole);
      }
    }
  }

  #takeOp(op: Exclude<Op, { op: 'clear' }>, isWhole: boolean): void {
    if (op.op === 'del') {
      if (isWhole || !this.holding.delete(op.key)) this.#object('surplus del', op.key);
      return;
    }
    const view = this.#viewOf(op.key);
    const value = comparable(view, op.value);
    if (this.holding.get(op.key) === value) {
      if (view.strategy !== 'incremental') this.#object('equal put', op.key);
      this.#report.counts.equalPuts++;
    }
    this.holding.set(op.key, value);
  }

  #viewOf(key: string): OracleView {
    const view = this.#judge.views.find(({ name }) => key.startsWith(`${name}/`));
    if (!view) throw new Error(`an op has a key of no view: ${key}`);
    return view;
  }

  /** Mutation n of a client writes n into its row, so a snapshot shows both or neither. */
  #checkMutations(): void {
    for (const id of this.mutating) {
      const row = this.holding.get(`counters/${id}`);
      const { n, effects } = row ? (JSON.parse(row) as { n: number; effects: number }) : { n: 0, effects: 0 };
      const reported = this.#reportedIDs.get(id) ?? 0;
      if (n !== reported || effects !== reported) {
        this.#object(
          'mutation',
          `${id} has lastMutationID ${reported}, but its row says ${n} after ${effects} effects`,
        );
      }
    }
  }

  /** The response must show everything that was confirmed when the pull was sent. */
  #checkConfirmed(confirmed: ReadonlyMap<string, number>): void {
    for (const [id, n] of confirmed) {
      const reported = this.#reportedIDs.get(id) ?? 0;
      if (this.mutating.has(id) && reported < n)
        this.#object('own writes', `${id} has written ${n}, and sees ${reported}`);
    }
  }

  #object(rule: string, detail: string): void {
    this.#report.object(rule, this.name, detail);
  }
}

/** The sync client's comparison: null is lowest, numbers compare by value, other values as strings by UTF-16 units. */
function compareCookies(one: unknown, other: unknown): number {
  const [a, b] = [orderOf(one), orderOf(other)];
  if (a === b) return 0;
  if (a === null) return -1;
  if (b === null) return 1;
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return String(a) > String(b) ? 1 : -1;
}

function orderOf(cookie: unknown): number | string | null {
  const order = typeof cookie === 'object' && cookie !== null ? (cookie as { order: unknown }).order : cookie;
  return typeof order === 'number' || typeof order === 'string' ? order : null;
}
