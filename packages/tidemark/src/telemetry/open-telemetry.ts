/** OpenTelemetry, if the application has it. The application's SDK decides what happens to spans and metrics. */
import type {
  BatchObservableResult,
  Meter,
  Attributes as OTelAttributes,
  Span,
  SpanKind,
  Tracer,
} from '@opentelemetry/api';
import { type CounterName, counters, gauges, type HistogramName, histograms } from './instruments.js';
import type { Attributes, GaugeReader, Recorder } from './recorder.js';

type API = typeof import('@opentelemetry/api');

/** Loads the API; undefined if it is not installed. */
export async function loadOpenTelemetry(): Promise<OpenTelemetry | undefined> {
  try {
    return new OpenTelemetry(await import('@opentelemetry/api'));
  } catch (error) {
    if (isMissing(error as Error & { readonly code?: unknown })) return undefined;
    throw error;
  }
}

/** Recognizes Node's error, and those that bundlers insert for a module that they cannot find. Vite's has no code. */
function isMissing({ code, message }: Error & { readonly code?: unknown }): boolean {
  return /^(ERR_)?MODULE_NOT_FOUND$/.test(String(code)) || /^Could not resolve "/.test(message);
}

const scope = 'tidemark';

export class OpenTelemetry implements Recorder {
  readonly #api: API;
  readonly #tracer: Tracer;
  readonly #meter: Meter;
  readonly #recorders = new Map<string, (value: number, attributes: OTelAttributes) => void>();

  constructor(api: API) {
    this.#api = api;
    this.#tracer = api.trace.getTracer(scope);
    this.#meter = api.metrics.getMeter(scope);
    for (const [name, { unit, description, buckets }] of Object.entries(histograms)) {
      const advice = { explicitBucketBoundaries: [...buckets] };
      const histogram = this.#meter.createHistogram(name, { unit, description, advice });
      this.#recorders.set(name, (value, attributes) => histogram.record(value, attributes));
    }
    for (const [name, { unit, description }] of Object.entries(counters)) {
      const counter = this.#meter.createCounter(name, { unit, description });
      this.#recorders.set(name, (value, attributes) => counter.add(value, attributes));
    }
  }

  /** True if the application has an SDK that creates spans. Only its spans have valid IDs. */
  get isTracing(): boolean {
    return this.#api.isSpanContextValid(this.#tracer.startSpan('probe').spanContext());
  }

  record(name: HistogramName | CounterName, value: number, attributes: Attributes): void {
    this.#recorders.get(name)!(value, attributes);
  }

  /** Registers the gauges, whose values the SDK then requests. Returns a function that unregisters them. */
  observe(reader: GaugeReader): () => void {
    const observables = new Map(
      Object.entries(gauges).map(([name, { unit, description }]) => [
        name,
        this.#meter.createObservableGauge(name, { unit, description }),
      ]),
    );
    const onRead = async (result: BatchObservableResult) => {
      for (const { name, value, attributes } of await reader.read()) {
        result.observe(observables.get(name)!, value, attributes);
      }
    };
    this.#meter.addBatchObservableCallback(onRead, [...observables.values()]);
    return () => this.#meter.removeBatchObservableCallback(onRead, [...observables.values()]);
  }

  /** Runs work in a span, to which the work can add attributes. */
  async span<T>(
    name: string,
    kind: keyof typeof SpanKind,
    attributes: OTelAttributes,
    work: (span: Span) => Promise<T>,
  ): Promise<T> {
    const options = { kind: this.#api.SpanKind[kind], attributes };
    return this.#tracer.startActiveSpan(name, options, async (span) => {
      try {
        return await work(span);
      } catch (error) {
        // Leaves out the message, which may quote a row.
        span.setAttribute('error.type', typeOf(error)).setStatus({ code: this.#api.SpanStatusCode.ERROR });
        throw error;
      } finally {
        span.end();
      }
    });
  }

  /** Continues the trace that a request's headers name, unless a trace is already active. */
  continuing<T>(headers: Headers, work: () => Promise<T>): Promise<T> {
    const { context, propagation, trace } = this.#api;
    if (trace.getActiveSpan()) return work();
    const carrier = {
      get: (from: Headers, key: string) => from.get(key) ?? undefined,
      keys: (from: Headers) => [...from.keys()],
    };
    return context.with(propagation.extract(context.active(), headers, carrier), work);
  }
}

function typeOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return typeof error;
  if ('code' in error && typeof error.code === 'string') return error.code;
  return error.constructor.name;
}
