/** What a worker of a server does: it serves the connections that it is given, until it is told to end. */
import { Socket } from 'node:net';
import { explainFailure } from '../failure.js';
import { settlesWithin } from '../limits/deadline.js';
import type { Logger } from '../log.js';
import { type Service, Serving } from '../serving.js';
import type { Exposition, Measurements } from '../telemetry/exposition.js';
import type { ExposeTogether } from '../telemetry/telemetry.js';
import type { Order, Report, Served } from './messages.js';

/** How long it may take to say what was measured last, whatever hangs. */
const lastWordsMs = 1_000;

export interface WorkerService {
  readonly service: Service;
  /** Ends the responses that would otherwise never end, while other processes take over. */
  readonly endStreams: () => void;
  readonly served: Served | null;
  readonly log: Logger;
}

/**
 * Serves, in a process that `Workers` has started.
 * @param start starts the service. If it rejects, the process ends, and the server's first process says why.
 */
export async function runWorker(start: (together: ExposeTogether) => Promise<WorkerService>): Promise<void> {
  // A terminal and systemd send them to all processes; the first one says what they mean.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => {});
  const metrics = new WorkerMetrics();
  try {
    const { service, endStreams, served, log } = await start(metrics.together);
    let isReplaced = false;
    const drain = () => (isReplaced ? endStreams() : service.drain?.());
    const fetch: Service['fetch'] = (request, env) => service.fetch(request, env);
    const serving = new Serving({ fetch, drain, close: () => service.close() }, { log });
    process.on('message', (order: Order, socket: unknown) => {
      switch (order.kind) {
        case 'connection':
          report({ kind: 'taken', id: order.id });
          // It is none if the client has gone away meanwhile.
          if (socket instanceof Socket) serving.adopt(socket);
          return;
        case 'drain':
          isReplaced = order.isReplaced;
          serving.announceEnd();
          return;
        case 'end':
          void end(serving, metrics);
          return;
        default:
          metrics.hear(order);
      }
    });
    await report({ kind: 'ready', served });
  } catch (error) {
    await report({ kind: 'failed', text: explainFailure(error) });
    process.exit(1);
  }
}

async function end(serving: Serving, metrics: WorkerMetrics): Promise<never> {
  const isWell = await serving.stop();
  const lastWords = async () => report({ kind: 'ending', measurements: await metrics.own() });
  await settlesWithin(lastWordsMs, lastWords());
  process.exit(isWell ? 0 : 1);
}

/** Resolves when it is sent. Whoever is not there any more does not hear it, and this process is about to end too. */
function report(message: Report): Promise<void> {
  return new Promise((resolve) => process.send!(message, undefined, undefined, () => resolve()));
}

/** What this worker tells the others about itself, and is told of all. */
class WorkerMetrics {
  own: () => Promise<Measurements> = async () => [];
  readonly #asked = new Map<number, (exposition: Exposition) => void>();
  #ids = 0;

  readonly together: ExposeTogether = (own) => {
    this.own = own;
    return () =>
      new Promise((resolve) => {
        const id = ++this.#ids;
        this.#asked.set(id, resolve);
        void report({ kind: 'metrics', id });
      });
  };

  async hear(order: Extract<Order, { kind: 'measure' | 'exposition' }>): Promise<void> {
    if (order.kind === 'measure') return report({ kind: 'measured', id: order.id, measurements: await this.own() });
    this.#asked.get(order.id)?.({ text: order.text, contentType: order.contentType });
    this.#asked.delete(order.id);
  }
}
