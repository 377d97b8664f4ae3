/** Reads once for all pulls that arrive at the same time with the same base. */

import { stateFromCache } from '../../change-log/cache-lookup.js';
import type { ChangeLogPoller } from '../../change-log/change-log-poller.js';
import { Coalescer } from '../../change-log/coalesce.js';
import type { Database } from '../../db/database.js';
import type { Semaphore } from '../../limits/semaphore.js';
import { changedTablesOf, deltaPatch } from '../../store/patches/patch-sql.js';
import { isSmall, type ObservedState, observedStateOf, readObservation } from '../../store/polls/observation.js';
import { literalObservation, type PollInput, pollStatement } from '../../store/polls/poll.js';
import { readableChanges } from '../../store/row-formats/schema-change.js';
import { CohortReads } from './cohort-reads.js';
import { openPatch, type PatchStream } from './patch-stream.js';
import { openWithPermit } from './permits.js';
import { type ReadRequirement, satisfies } from './read-requirement.js';
import { abortSignalOf, type DeltaReader, type Patch, type Reader, readerKey } from './reader.js';

interface LargeDeltaReader extends DeltaReader {
  readonly semaphore: Semaphore;
}

/** The maximum size, in bytes, of a patch that is kept in memory for several pulls. */
const maxSharedBytes = 256 * 1024;
const maxWaitMs = 100;

/**
 * Reads for pulls, in as few statements as possible. Every result comes from a statement that began after the reader's
 * request.
 */
export class SharedReads {
  readonly #db: Database;
  readonly #poller: ChangeLogPoller | undefined;
  readonly #cohortReads: CohortReads;
  readonly #probes = new Coalescer(
    (readers: readonly Reader[], signal) => this.#probe(readers, signal),
    maxWaitMs,
    abortSignalOf,
  );
  readonly #deltas = new Coalescer(
    (readers: readonly LargeDeltaReader[], signal) => this.#delta(readers, signal),
    maxWaitMs,
    ({ reader }) => abortSignalOf(reader),
  );

  /** @param poller if undefined, each client view has a statement of its own */
  constructor(db: Database, poller: ChangeLogPoller | undefined) {
    this.#db = db;
    this.#poller = poller;
    this.#cohortReads = new CohortReads(db, poller);
  }

  /** Returns the state from the change-log cache if that reaches back to the reader's base, else from a statement. */
  async state(reader: Reader): Promise<ObservedState> {
    const cache = await this.#poller?.poll();
    const cachedState = cache && stateFromCache(cache, reader);
    if (cachedState) return cachedState;
    const state = await this.#probes.ask(readerKey(reader), reader);
    if (!state.diverged) this.#poller?.cacheOf(state)?.learn(new Map(), reader.verifiedCookie.cookie.heartbeat);
    return state;
  }

  /** True if the database satisfies a read requirement, or if no poll can determine that. */
  async satisfies(requirement: ReadRequirement): Promise<boolean> {
    const cache = await this.#poller?.poll();
    return !cache || satisfies(cache.state, requirement);
  }

  /** Returns the state as of the newest poll if it has changes for the reader since the cookie, else undefined. */
  stateIfChanged(reader: Reader): ObservedState | undefined {
    const cache = this.#poller?.cache;
    if (!cache || reader.verifiedCookie.baseIn(cache) === cache.state.snapshot) return undefined;
    const state = stateFromCache(cache, reader);
    return state && state.changeCounts.length > 0 ? state : undefined;
  }

  /** Records that a new cookie as of a state would say no more than the reader's. */
  markUnchanged({ verifiedCookie, groupRequest }: Reader, state: ObservedState): void {
    const cache = this.#poller?.cacheOf(state);
    // Another group's pull says nothing about mutations of the group in the cookie.
    if (cache && groupRequest.sameGroup) verifiedCookie.markUnchanged(cache, state.snapshot);
  }

  /**
   * Returns the changes in the views since the base, given the changed tables.
   * The caller must close `more` if it is defined.
   * @param semaphore for a delta that is not small
   */
  async delta(reader: Reader, changed: ObservedState['changeCounts'], semaphore: Semaphore): Promise<Patch> {
    const deltaReader = { reader, changed };
    const isForCohort =
      reader.checksumMode === 'no' && !reader.viewDifference && reader.schemaChanges.size === 0 && isSmall(changed);
    const patch = isForCohort ? await this.#cohortReads.delta(deltaReader) : undefined;
    return patch ?? this.#deltas.ask(readerKey(reader), { ...deltaReader, semaphore });
  }

  async #probe(readers: readonly Reader[], signal: AbortSignal | undefined): Promise<ObservedState[]> {
    const [row] = await this.#db.query<{ line: string }>({ ...pollStatement(pollInput(readers)), signal });
    const observation = readObservation(row!.line);
    this.#poller?.cacheOf(observation.state)?.learn(observation.groups);
    return readers.map(({ groupRequest, base }) => observedStateOf(observation, groupRequest, base));
  }

  async #delta(
    deltaReaders: readonly LargeDeltaReader[],
    signal: AbortSignal | undefined,
  ): Promise<(Patch | Promise<Patch>)[]> {
    const readers = deltaReaders.map(({ reader }) => reader);
    const { views, base, schema, checksumMode, viewDifference } = readers[0]!;
    const rows = new Map(deltaReaders.flatMap((delta) => delta.changed));
    const schemaChanges = new Map(readers.flatMap((reader) => [...readableChanges(reader.schemaChanges)]));
    const changes = changedTablesOf(schema.tables, rows, schemaChanges);
    const tables = changes.map(({ table }) => table.id);
    const observationSql = literalObservation(pollInput(readers), schema.tables);
    const statement = deltaPatch(observationSql, views, changes, base, checksumMode, viewDifference);
    const { semaphore, reader } = deltaReaders[0]!;
    // It waits for a permit as long as one of the clients waits for the patch.
    const clients = { context: reader.caller.context, request: signal && { signal } };
    const stream = await openWithPermit(semaphore, clients, () =>
      openPatch(this.#db, statement, checksumMode !== 'no', signal),
    );
    const { observation, checksums } = stream;
    const { torn } = observation;
    const { firstChunks, isWhole } = await readFirstChunks(stream);
    const patches = readers.map(
      ({ groupRequest }): Patch => ({
        state: observedStateOf(observation, groupRequest, base),
        torn,
        tables,
        checksums,
        firstChunks,
      }),
    );
    if (isWhole) return patches;
    const [, ...otherReaders] = deltaReaders;
    return [
      { ...patches[0]!, more: stream },
      ...otherReaders.map(async (other) => (await this.#delta([other], abortSignalOf(other.reader)))[0]!),
    ];
  }
}

function pollInput(readers: readonly Reader[]): PollInput {
  const { schema, base, verifiedCookie } = readers[0]!;
  return {
    base,
    heartbeat: verifiedCookie.cookie.heartbeat,
    tables: schema.tableIDs,
    groupIDs: [...new Set(readers.map(({ groupRequest }) => groupRequest.clientGroupID))],
  };
}

/** Reads until the end, or until `maxSharedBytes` is exceeded. Closes the stream at its end. */
async function readFirstChunks({ ops, close }: PatchStream): Promise<{ firstChunks: Uint8Array[]; isWhole: boolean }> {
  const firstChunks: Uint8Array[] = [];
  let isOpen = false;
  try {
    for (let bytes = 0; bytes <= maxSharedBytes; ) {
      const { value, done } = await ops.next();
      if (done) return { firstChunks, isWhole: true };
      firstChunks.push(value);
      bytes += value.length;
    }
    isOpen = true;
    return { firstChunks, isWhole: false };
  } finally {
    if (!isOpen) await close();
  }
}
