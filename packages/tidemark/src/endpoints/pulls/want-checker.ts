/** Checks the wants of clients against the application's views. */
import { findUnstorable } from '../../protocol/json.js';
import type { RefusedWant, RequestedWant, Want, WantRefusalCode } from '../../protocol/wants.js';
import { toIssues } from '../../registry/issues.js';
import { InvalidArgsError, validate } from '../../registry/prepare.js';
import type { Views } from '../../view/define.js';

/** The wants of a request, as far as they can be served. */
export interface CheckedWants {
  /** The same object for the same request. */
  readonly wants: readonly Want[];
  readonly refused: readonly RefusedWant[];
}

const none: CheckedWants = { wants: [], refused: [] };

/** Validates the arguments of wants. Clients repeat their requests, so it keeps the result for each list of wants. */
export class WantChecker {
  readonly #views: Views<never>;
  readonly #maxWants: number;
  readonly #checked = new WeakMap<readonly RequestedWant[], Promise<CheckedWants>>();

  /** @param maxWants the maximum number of wants that are served */
  constructor(views: Views<never>, maxWants: number) {
    this.#views = views;
    this.#maxWants = maxWants;
  }

  /** @throws whatever a validator throws */
  check(wants: readonly RequestedWant[] | undefined): Promise<CheckedWants> {
    if (!wants || wants.length === 0) return Promise.resolve(none);
    const known = this.#checked.get(wants);
    if (known) return known;
    const checking = this.#checkAll(wants);
    this.#checked.set(wants, checking);
    checking.catch(() => this.#checked.delete(wants));
    return checking;
  }

  async #checkAll(requested: readonly RequestedWant[]): Promise<CheckedWants> {
    const results = await Promise.all(requested.map((want, i) => this.#checkOne(want, i)));
    return {
      wants: results.flatMap((result) => ('code' in result ? [] : [result])),
      refused: results.flatMap((result) => ('code' in result ? [result] : [])),
    };
  }

  async #checkOne(want: RequestedWant, position: number): Promise<Want | RefusedWant> {
    const refuse = (code: WantRefusalCode, message: string) => ({ ...want, code, message });
    if (position >= this.#maxWants) {
      return refuse('too-many-wants', `A client can want at most ${this.#maxWants} instances of views`);
    }
    const validator = Object.hasOwn(this.#views, want.view) ? this.#views[want.view]!.args : undefined;
    if (!validator) return refuse('unknown-view', 'There is no view with arguments of this name');
    const unstorable = findUnstorable(want.args) ?? findNull(want.args);
    if (unstorable !== undefined) return refuse('invalid-args', unstorable);
    try {
      return { view: want.view, args: await validate(validator, want.args), requested: want };
    } catch (error) {
      if (!(error instanceof InvalidArgsError)) throw error;
      const issues = toIssues(error.issues, want.args);
      return refuse('invalid-args', issues.map(({ path, message }) => [...path, message].join(': ')).join('; '));
    }
  }
}

/** No text in Postgres contains U+0000. */
function findNull(args: object): string | undefined {
  return JSON.stringify(args).includes('\\u0000') ? 'a string in the args contains U+0000' : undefined;
}
