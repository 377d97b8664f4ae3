/** A client that applies patches as Replicache does. */
import type { Sync } from '../../../packages/tidemark/src/server.js';
import { requestTo } from './requests.js';
import type { FuzzView } from './view.js';
import { wantsOf } from './wants.js';

type Op =
  | { readonly op: 'clear' }
  | { readonly op: 'put'; readonly key: string; readonly value: unknown }
  | { readonly op: 'del'; readonly key: string };

/** The outcome of a pull. */
export type Outcome = 'first' | 'reset' | 'delta' | 'unchanged';

/** A server's response is invalid. */
export class FailedPull extends Error {}

export class FuzzClient {
  readonly user: number;
  readonly group: string;
  readonly rows = new Map<string, unknown>();
  /** The users whose instances it wants. */
  wanted: readonly number[];
  #cookie: unknown = null;

  constructor(user: number, group: string) {
    this.user = user;
    this.group = group;
    this.wanted = [user];
  }

  /**
   * @param instanced the views with arguments
   * @throws FailedPull if the response is not a patch, or the server refuses an instance
   */
  async pull({ fetch }: Sync, instanced: readonly FuzzView[]): Promise<Outcome> {
    const body = {
      pullVersion: 1,
      clientGroupID: this.group,
      profileID: 'p',
      schemaVersion: '',
      cookie: this.#cookie,
      ...(instanced.length > 0 && { wants: wantsOf(instanced, this.wanted) }),
    };
    const response = await fetch(requestTo('/sync/pull', this.user, body));
    const text = await response.text().catch((error: Error) => `the body broke off: ${error.message}`);
    if (response.status !== 200) throw new FailedPull(`${response.status} ${text}`);
    return this.#take(text);
  }

  #take(text: string): Outcome {
    let answer: { cookie: unknown; patch?: readonly Op[]; refusedWants?: unknown };
    try {
      answer = JSON.parse(text) as typeof answer;
    } catch (error) {
      throw new FailedPull(`${(error as Error).message}: ${text}`);
    }
    if (!answer.patch || answer.refusedWants) throw new FailedPull(text);
    const outcome = this.#outcomeOf(answer as { cookie: unknown; patch: readonly Op[] });
    for (const op of answer.patch) {
      if (op.op === 'clear') this.rows.clear();
      else if (op.op === 'put') this.rows.set(op.key, op.value);
      else this.rows.delete(op.key);
    }
    this.#cookie = answer.cookie;
    return outcome;
  }

  #outcomeOf({ cookie, patch }: { cookie: unknown; patch: readonly Op[] }): Outcome {
    if (this.#cookie === null) return 'first';
    if (JSON.stringify(cookie) === JSON.stringify(this.#cookie)) return 'unchanged';
    return patch[0]?.op === 'clear' ? 'reset' : 'delta';
  }
}
