/** Answers the reads and calls that code of the server makes as a user, as REST answers those of its callers. */
import { randomUUID } from 'node:crypto';
import type { UserContext } from '../context.js';
import { isOfValues } from '../db/sqlstate.js';
import type { Caller } from '../http/identify.js';
import { toLoggedProblem } from '../http/problem.js';
import { RequestRecord } from '../http/request-record.js';
import type { RequestObserver } from '../http/route.js';
import type { Admission } from '../limits/admission.js';
import type { Logger } from '../log.js';
import { type Call, decodeBatch } from '../protocol/calls.js';
import { isStorableText } from '../protocol/fields.js';
import { noState } from '../protocol/read-token.js';
import type { ViewPart } from '../view/client-views.js';
import type { ListedView } from '../view/listed-views.js';
import type { Calls } from '../writes/calls/calls.js';
import type { PullService } from './pulls/pull-service.js';
import { baseOf, rowsText } from './views/read-answer.js';
import { needlessArgs, unreadableArgs, validArgs } from './views/view-args.js';
import { defaultInputs, unknownView } from './views/view-requests.js';

/** The options of `UserRequests`. */
export interface UserRequestsOptions<Context extends UserContext> {
  readonly views: readonly ListedView[];
  /** The schema versions that the application serves; all if undefined. Reads are for the first one. */
  readonly schemaVersions: readonly string[] | undefined;
  readonly pulls: Pick<PullService<Context>, 'read'>;
  readonly calls: Pick<Calls<never, Context>, 'results'>;
  readonly admission: Admission;
  readonly observer: RequestObserver;
  readonly log: Logger;
}

/** The rows of a part of a view, as JSON text with commas between them, and the token of their snapshot. */
interface ReadText {
  readonly text: string;
  readonly cookie: string;
}

/** The labels of these requests in metrics, in place of those of routes. */
const labels = { view: 'as.views', mutator: 'as.mutators' } as const;

/** Answers the requests of server code. All methods reject with Problems. */
export class UserRequests<Context extends UserContext> {
  readonly #options: UserRequestsOptions<Context>;
  readonly #views: ReadonlyMap<string, ListedView>;

  constructor(options: UserRequestsOptions<Context>) {
    this.#options = options;
    this.#views = new Map(options.views.map((view) => [view.name, view]));
  }

  /** Reads the rows of a part of a view, with the token of their snapshot. */
  read(context: Context, part: ViewPart): Promise<{ readonly rows: unknown[]; readonly cookie: string }> {
    return this.#answer(context, labels.view, { view: part.view }, async (caller) => {
      const { text, cookie } = await this.#read(part, caller);
      return { answer: { rows: JSON.parse(`[${text}]`) as unknown[], cookie }, bytes: Buffer.byteLength(text) };
    });
  }

  /** Runs a call, and returns its result. */
  call(context: Context, call: Call): Promise<unknown> {
    return this.#answer(context, labels.mutator, { mutator: call.name }, async (caller) => {
      const [answer] = await this.#options.calls.results({ kind: 'call', call }, caller);
      return { answer, bytes: 0 };
    });
  }

  /** Runs the calls of a batch. Returns their results, one for each call. */
  batch(context: Context, entries: readonly unknown[]): Promise<readonly unknown[]> {
    return this.#answer(context, labels.mutator, { calls: entries.length }, async (caller) => {
      const request = { kind: 'batch', calls: decodeBatch(entries) } as const;
      return { answer: await this.#options.calls.results(request, caller), bytes: 0 };
    });
  }

  async #read(named: ViewPart, caller: Caller<Context>): Promise<ReadText> {
    const { schemaVersions, pulls } = this.#options;
    const view = this.#views.get(named.view);
    if (!view) throw unknownView();
    if (!view.args && named.args !== undefined) throw needlessArgs();
    // No row can have a key that Postgres cannot store.
    if (named.key !== undefined && !isStorableText(named.key)) return { text: '', cookie: noState };
    const part = view.args ? { ...named, args: await validArgs(view.args, named.args) } : named;
    const inputs = defaultInputs(schemaVersions);
    try {
      const read = await pulls.read({ ...inputs, part, format: 'rows', cookie: null, isFollowing: false }, caller);
      if (!('cookie' in read)) throw new Error('A read without a cookie has no rows');
      return { text: (await rowsText(read)) ?? '', cookie: baseOf(read.cookie) };
    } catch (error) {
      throw view.args && isOfValues(error) ? unreadableArgs(error) : error;
    }
  }

  /**
   * Answers a request: counts it, logs it, measures it, and turns its failure into a Problem.
   * @param label the name of the request in metrics
   * @param subject the fields of its log line that say what is requested
   */
  async #answer<T>(
    context: Context,
    label: string,
    subject: object,
    work: (caller: Caller<Context>) => Promise<{ readonly answer: T; readonly bytes: number }>,
  ): Promise<T> {
    const { admission, observer } = this.#options;
    const start = { route: label, requestID: randomUUID() };
    const record = new RequestRecord({ ...start, subject, logLevel: 'info', log: this.#options.log, observer });
    const { log, annotations } = record;
    const { requestID } = start;
    try {
      const { answer, bytes } = await observer.around(start, async () => {
        await admission.admitUser(context, log);
        return work({ context, requestID, log, annotations });
      });
      record.end(200, bytes);
      return answer;
    } catch (error) {
      const problem = toLoggedProblem(error, log);
      record.end(problem.status, 0, { code: problem.code });
      throw problem;
    }
  }
}
