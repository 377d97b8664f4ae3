/**
 * What the server has answered to the wants. Marks in the local data say so, next to the rows that they are about: the
 * client adds them to the patch of each pull. So they are stored, loaded and shared between tabs together with the rows.
 */
import type { ReadTransaction } from '#engine';
import { Cell } from '../observable.js';
import type { ReadonlyJSON } from '../stores/types.js';
import { canonicalText, instanceText, type Want, wantOf } from './instance.js';
import type { Wants } from './wants.js';

/** An instance that the server does not serve. */
export interface WantRefusal extends Want {
  /** The error code, as in docs/errors.md. */
  readonly code: string;
  /** The reason, for developers. */
  readonly message: string;
}

/** The completeness of a view, or of an instance of it, in the local data. */
export interface Completeness {
  /** True if these are all rows: a pull has brought them, and later pulls keep them in sync. */
  readonly complete: boolean;
  /** The reason why the server does not serve the instance, if it does not. */
  readonly refused?: WantRefusal | undefined;
}

/** The key of the mark that a pull has been applied: a list of the views that it left out. */
const pulledKey = 'tidemark/pulled/';
/** Returns the key of the mark of an instance: true if it is complete, or why the server does not serve it. */
const markKey = (text: string) => pulledKey + text;

type Mark = true | readonly string[] | WantRefusal;

interface PatchOp {
  readonly op: string;
  readonly key?: string;
  readonly value?: Mark | ReadonlyJSON;
}

/** The response to a pull. */
interface PullAnswer {
  readonly cookie: object;
  readonly patch: PatchOp[];
  readonly refusedWants?: readonly WantRefusal[];
  /** The views that the answer leaves out, because the next one brings them. */
  readonly laterViews?: readonly string[];
  /** True if the server could not answer yet. */
  readonly behind?: boolean;
}

/** Reads how much is here of a view or, with the text of an instance, of the instance. */
export async function completenessOf(tx: ReadTransaction, view: string, text = ''): Promise<Completeness> {
  const mark = (await tx.get(markKey(text))) as Mark | undefined;
  if (!text) return { complete: (mark as readonly string[] | undefined)?.includes(view) === false };
  if (mark === undefined || mark === true) return { complete: mark === true };
  return { complete: false, refused: mark as WantRefusal };
}

/** Returns a cookie as the server has sent it: without the field by which `receive` makes it another one. */
export function serverCookie(cookie: unknown): unknown {
  const { marks, ...own } = (cookie ?? {}) as { readonly marks?: string };
  return marks ? own : cookie;
}

/** True if an answer was about a view or, with the text of an instance, about the instance. */
export type IsAnswered = (view: string, text?: string) => boolean;

type Query = <Result>(body: (tx: ReadTransaction) => Promise<Result>) => Promise<Result>;

/** Reports an answer that cannot be applied. */
type Report = <Result>(applying: Promise<Result>) => Promise<Result>;

/** Names the wanted instances in each pull, and marks the answers. */
export class Answered {
  readonly #wants: Wants;
  readonly #query: Query;
  readonly #report: Report;
  /** The instances in the last request; undefined before the first request. */
  #asked: readonly string[] | undefined;
  /** True from a request until its answer has been applied, or cannot be. If it gets none, the engine repeats it. */
  #isAsking = false;
  /** The views and instances that the last answer is about, whether or not it has been applied. */
  #received: IsAnswered = () => false;
  /** The views and instances that the last applied answer was about. */
  readonly latest: Cell<IsAnswered> = new Cell(this.#received);
  /** True if the last answer left out views, so that the next one has more. */
  hasLater = false;
  /** True if the last answer was postponed, or changes something, which the engine may be unable to apply. */
  mayLack = false;

  constructor(wants: Wants, query: Query, report: Report) {
    this.#wants = wants;
    this.#query = query;
    this.#report = report;
  }

  /** Returns the fields of the next request that name the wants. */
  ask(): object {
    this.#asked = this.#wants.texts;
    this.#isAsking = true;
    this.mayLack = false;
    return { wants: this.#asked.map(wantOf), stages: true };
  }

  /**
   * Records the end of a pull.
   * @param isApplied true if subscriptions have received the rows of the answer; false if it cannot be applied
   */
  endPull(isApplied: boolean): void {
    this.#isAsking = false;
    if (isApplied) this.latest.set(this.#received);
  }

  /** True if something has not been answered, such as a later stage, that the current request does not ask for. */
  async isMissing(): Promise<boolean> {
    // The first request asks for all.
    if (!this.#asked) return false;
    const marks = await this.#query(marksIn);
    const asked = this.#isAsking ? this.#asked : undefined;
    const laterViews = marks.get(pulledKey) as readonly string[] | undefined;
    if (!asked && laterViews?.length !== 0) return true;
    const { texts } = this.#wants;
    const hasRoom = texts.length < this.#asked.length;
    return texts.some((text) => {
      const mark = marks.get(markKey(text)) as WantRefusal | undefined;
      return !asked?.includes(text) && (!mark || (hasRoom && mark.code === 'too-many-wants'));
    });
  }

  /**
   * Returns the response to a pull, with the marks in its patch.
   * @param base the cookie in the local data
   */
  async receive(base: unknown, requestID: string, response: unknown): Promise<unknown> {
    const answer = response as PullAnswer | undefined;
    // An error of the protocol, for example, which the engine handles.
    if (!Array.isArray(answer?.patch)) return answer;
    const { laterViews = [] } = answer;
    const changes = answer.behind ? [] : await this.#report(this.#changedMarks(answer));
    // Stores may keep the fields of an object in another order.
    const isUnchanged = canonicalText(answer.cookie) === canonicalText(serverCookie(base));
    const asked = this.#asked!;
    this.#received = (view, text) => !laterViews.includes(view) && (!text || asked.includes(text));
    this.hasLater = laterViews.length > 0;
    this.mayLack = !!answer.behind || !isUnchanged || changes.length > 0;
    const patch = [...answer.patch, ...changes];
    if (!isUnchanged) return { ...answer, patch };
    // The engine applies a patch only if the cookie is another one.
    return { ...answer, patch, cookie: changes.length > 0 ? { ...answer.cookie, marks: requestID } : base };
  }

  async #changedMarks({ patch, refusedWants = [], laterViews = [] }: PullAnswer): Promise<PatchOp[]> {
    const marks = new Map<string, Mark>([[pulledKey, laterViews]]);
    for (const text of this.#asked!) if (!laterViews.includes(wantOf(text).view)) marks.set(markKey(text), true);
    for (const refusal of refusedWants) marks.set(markKey(instanceText(refusal.view, refusal.args)), refusal);
    const before = patch[0]?.op === 'clear' ? new Map<string, Mark>() : await this.#query(marksIn);
    const added = [...marks].filter(([key, mark]) => canonicalText(before.get(key)) !== canonicalText(mark));
    for (const [key, { code, message }] of added as [string, WantRefusal][]) {
      if (code) console.warn(`${key.slice(pulledKey.length)} is not synced (${code}): ${message}`);
    }
    return [
      ...[...before.keys()].filter((key) => !marks.has(key)).map((key) => ({ op: 'del', key })),
      ...added.map(([key, value]) => ({ op: 'put', key, value })),
    ];
  }
}

async function marksIn(tx: ReadTransaction): Promise<ReadonlyMap<string, Mark>> {
  const marks = new Map<string, Mark>();
  for await (const [key, value] of tx.scan({ prefix: pulledKey }).entries()) marks.set(key, value as never);
  return marks;
}
