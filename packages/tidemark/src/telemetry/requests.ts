/** Measures requests and mutators. Records no rows, arguments or tokens. */
import { isTransient } from '../db/sqlstate.js';
import { MutatorError } from '../errors.js';
import type { RequestEnd, RequestObserver, RequestStart } from '../http/route.js';
import type { Mutator, Mutators } from '../registry/mutators.js';
import type { Telemetry } from './telemetry.js';

/** Counts the requests that are being answered. */
export interface RequestTracker {
  /** Records that a request has begun. */
  begin(): void;
  /** Records that a request has been answered, to the end of the response's body. */
  end(): void;
}

/** Measures requests, and wraps each one in a span. */
export class RequestTelemetry implements RequestObserver {
  readonly #telemetry: Telemetry;
  readonly #tracker: RequestTracker | undefined;

  constructor(telemetry: Telemetry, tracker?: RequestTracker) {
    this.#telemetry = telemetry;
    this.#tracker = tracker;
  }

  began(): void {
    this.#tracker?.begin();
  }

  around<T>({ route, requestID, request }: RequestStart, work: () => Promise<T>): Promise<T> {
    const { tracing } = this.#telemetry;
    if (!tracing) return work();
    const attributes = { 'tidemark.request.id': requestID };
    if (!request) return tracing.span(spanName(route), 'INTERNAL', attributes, work);
    const httpAttributes = { 'http.request.method': request.method, 'http.route': route, ...attributes };
    return tracing.continuing(request.headers, () => tracing.span(spanName(route), 'SERVER', httpAttributes, work));
  }

  ended({ route, status, ms, bytes, annotations: { pull: kind, reason = '', ops, mutations } }: RequestEnd): void {
    const telemetry = this.#telemetry;
    const seconds = ms / 1000;
    telemetry.record('tidemark.request.duration', seconds, { route, status });
    if (kind) {
      telemetry.record('tidemark.pull.duration', seconds, { kind, reason });
      telemetry.record('tidemark.pull.size', bytes, { kind });
    }
    if (kind && ops !== undefined) telemetry.record('tidemark.pull.ops', ops, { kind });
    if (mutations !== undefined) telemetry.record('tidemark.push.mutations', mutations);
    this.#tracker?.end();
  }
}

/** Names an endpoint's span: `tidemark.pull`, `tidemark.push`, `tidemark.poke`, `tidemark.call`, `tidemark.read`. */
function spanName(route: string): string {
  const [, sync] = /\/sync\/(\w+)$/.exec(route) ?? [];
  const [, surface = ''] = /(?:\/api\/|^as\.)(mutators|views)/.exec(route) ?? [];
  return `tidemark.${sync ?? { mutators: 'call', views: 'read' }[surface] ?? 'request'}`;
}

/** Returns the mutators so that each run is measured and wrapped in a span. */
export function observeMutators<Tx, Context>(
  mutators: Mutators<Tx, Context>,
  telemetry: Telemetry,
): Mutators<Tx, Context> {
  return new Map([...mutators].map(([name, mutator]) => [name, observeMutator(name, mutator, telemetry)]));
}

function observeMutator<Tx, Context>(
  name: string,
  mutator: Mutator<Tx, Context>,
  telemetry: Telemetry,
): Mutator<Tx, Context> {
  const { tracing } = telemetry;
  return {
    ...mutator,
    async run(call) {
      const started = performance.now();
      const record = (outcome: string) =>
        telemetry.record('tidemark.mutator.duration', (performance.now() - started) / 1000, { mutator: name, outcome });
      const run = async () => mutator.run(call);
      try {
        const result = tracing
          ? await tracing.span('tidemark.mutator', 'INTERNAL', { 'tidemark.mutator.name': name }, run)
          : await run();
        record('done');
        return result;
      } catch (error) {
        record(outcomeOf(error));
        throw error;
      }
    },
  };
}

/** A mutator that failed for a transient reason runs again. */
function outcomeOf(error: unknown): string {
  if (isTransient(error)) return 'transient';
  return error instanceof MutatorError ? 'refused' : 'failed';
}
