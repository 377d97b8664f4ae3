/** Measures the cost of each operation, in phases that repeat one operation many times. */
import { setTimeout as sleep } from 'node:timers/promises';
import { keepAliveMs } from '../../../src/endpoints/subscriptions/stream-life.js';
import { keepAlive, pokeEvent } from '../../../src/protocol/poke.js';
import { withConnections } from '../../scenario.js';
import { costsOf, type Design, type Measured } from './costs.js';
import {
  fewSeats,
  type ListeningCounts,
  manyRows,
  measureDeltaBytes,
  measureHeld,
  measureListening,
  measureRowsWritten,
  measureStreamMemory,
} from './listening.js';
import { Recorder } from './recorder.js';
import { measureFirstPulls, measurePushes, measureUnchanged, type RequestCounts, writerFor } from './requests.js';
import { withStage } from './stage.js';
import { documents, manyDocuments, members } from './teams.js';

export interface Counts extends ListeningCounts, RequestCounts {
  readonly quietSeconds: number;
}

/** @param ofPrimary The results of reads from the primary, to measure a standby now. Default: reads use the primary. */
export async function measure(
  counts: Counts,
  progress: (message: string) => void,
  ofPrimary?: Measured,
): Promise<Measured> {
  const standbys = ofPrimary ? 1 : 0;
  const { seats, writes } = counts;
  const team = Math.ceil(Math.max(seats, counts.groups) / members) + 1;
  const design: Design = {
    seats: { few: fewSeats, many: seats },
    audience: { one: 1, all: fewSeats },
    rows: manyRows,
    firstRows: { few: documents, many: manyDocuments },
    streams: seats,
  };
  return withStage({ teams: team, standbys, servers: 1, loaders: 1, seats: 'user' }, (stage) =>
    withConnections(async (open) => {
      const recorder = new Recorder(stage, progress);
      const { serverMB, streamKB } = await measureStreamMemory(recorder, seats);
      const push = await measurePushes(recorder, open, team, counts);
      await measureRowsWritten(recorder, team, writes);
      const firstRow = await measureFirstPulls(recorder, open, team, counts.firstPulls);
      const { bytes: unchanged, groupKB } = await measureUnchanged(recorder, open, counts);
      await recorder.phase('quiet', 1, () => sleep(1000 * counts.quietSeconds));
      await measureHeld(recorder, counts);
      // A server closes idle connections.
      const writer = await writerFor(recorder, open, team, members - 1);
      await measureListening(recorder, writer, team, counts);
      const delta = await measureDeltaBytes(recorder, writer, team, open);
      const { rows } = await stage.pool.query<{ version: string }>(
        `select split_part(version(), ' on ', 1) as version`,
      );
      return {
        standbys,
        postgres: rows[0]!.version,
        design,
        phases: [...recorder.phases.values()],
        costs: costsOf(recorder.phases, design, ofPrimary?.costs),
        traffic: {
          unchanged,
          delta,
          firstRow,
          push,
          poke: chunkOf(pokeEvent),
          stream: chunkOf(keepAlive) / (keepAliveMs / 1000),
        },
        memory: { serverMB, streamKB, groupKB },
      };
    }),
  );
}

/** The size of a text as a chunk of a response. */
function chunkOf(text: string): number {
  return text.length + text.length.toString(16).length + 4;
}
