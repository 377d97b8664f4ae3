/** A worker of a server: it serves the connections that it receives, until it is told to exit. */
import { Socket } from 'node:net';
import { Deferred } from '../deferred.js';
import { explainFailure } from '../failure.js';
import { settlesWithin } from '../limits/deadline.js';
import type { Logger } from '../log.js';
import { type Service, Serving } from '../serving.js';
import type { Exposition, MeasurementSource, Measurements, ProcessGroup } from '../telemetry/exposition.js';
import type { ServedPaths, WorkerCommand, WorkerMessage } from './messages.js';

/** The maximum time for sending the final measurements, even if something hangs. */
const lastMessageMs = 1_000;

/** A service that one of several processes serves. */
export interface ReplaceableService extends Service {
  /** Ends the responses that would otherwise never end, while other processes take over. */
  endStreams(): void;
}

export interface WorkerService {
  readonly service: ReplaceableService;
  readonly paths: ServedPaths | null;
  readonly log: Logger;
}

/**
 * Serves in a process that `Workers` has started.
 * @param start starts the service. If it rejects, this process exits, and the primary process reports why.
 */
export async function runWorker(start: (processes: ProcessGroup) => Promise<WorkerService>): Promise<void> {
  // A terminal and systemd send these signals to all processes; the primary process decides what to do.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => {});
  const metrics = new WorkerMetrics();
  try {
    const { service, paths, log } = await start(metrics);
    let isReplaced = false;
    const drain = () => (isReplaced ? service.endStreams() : service.drain?.());
    const fetch: Service['fetch'] = (request, env) => service.fetch(request, env);
    const serving = new Serving({ fetch, drain, close: () => service.close() }, { log });
    process.on('message', (command: WorkerCommand, socket: unknown) => {
      switch (command.kind) {
        case 'connection':
          send({ kind: 'taken', id: command.id });
          // There is no socket if the client has disconnected in the meantime.
          if (socket instanceof Socket) serving.adopt(socket);
          return;
        case 'drain':
          isReplaced = command.isReplaced;
          serving.announceEnd();
          return;
        case 'end':
          void end(serving, metrics);
          return;
        default:
          metrics.handle(command);
      }
    });
    await send({ kind: 'ready', paths });
  } catch (error) {
    await send({ kind: 'failed', text: explainFailure(error) });
    process.exit(1);
  }
}

async function end(serving: Serving, metrics: WorkerMetrics): Promise<never> {
  const isWell = await serving.stop();
  const lastMessage = async () => send({ kind: 'ending', measurements: await metrics.measure() });
  await settlesWithin(lastMessageMs, lastMessage());
  process.exit(isWell ? 0 : 1);
}

/** Resolves when the message is sent, or dropped because the primary is gone; this process then exits soon, too. */
function send(message: WorkerMessage): Promise<void> {
  return new Promise((resolve) => process.send!(message, undefined, undefined, () => resolve()));
}

/** Sends the measurements of this worker to the primary, and receives those of all workers. */
class WorkerMetrics implements ProcessGroup {
  #source: MeasurementSource | undefined;
  readonly #pending = new Map<number, Deferred<Exposition>>();
  #ids = 0;

  setSource(source: MeasurementSource): void {
    this.#source = source;
  }

  /** Returns the measurements of this worker; none if Prometheus cannot read them. */
  async measure(): Promise<Measurements> {
    return this.#source?.measure() ?? [];
  }

  expose(): Promise<Exposition> {
    const id = ++this.#ids;
    const exposition = new Deferred<Exposition>();
    this.#pending.set(id, exposition);
    void send({ kind: 'metrics', id });
    return exposition.promise;
  }

  async handle(command: Extract<WorkerCommand, { kind: 'measure' | 'exposition' }>): Promise<void> {
    if (command.kind === 'measure') {
      return send({ kind: 'measured', id: command.id, measurements: await this.measure() });
    }
    this.#pending.get(command.id)?.resolve({ text: command.text, contentType: command.contentType });
    this.#pending.delete(command.id);
  }
}
