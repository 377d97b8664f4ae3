/** Measures the processor time of operations, in phases that repeat one operation many times. */
import { setTimeout as sleep } from 'node:timers/promises';
import { withConnections } from '../../scenario.js';
import { withDeployment } from './deployment.js';
import type { Design, Phase } from './phases.js';
import { Recorder } from './recorder.js';
import { measureFirstPulls, measurePushes, measureUnchangedPulls, type RequestCounts, writerFor } from './requests.js';
import {
  fewSubscribers,
  manyRows,
  measureChanges,
  measureRowsWritten,
  measureStreams,
  type SubscriptionCounts,
} from './subscriptions.js';
import { documents, manyDocuments, members } from './teams.js';

export interface Counts extends SubscriptionCounts, RequestCounts {
  readonly idleSeconds: number;
}

export interface Measurement {
  readonly postgres: string;
  readonly phases: readonly Phase[];
}

export function designOf({ subscribers }: Counts): Design {
  return {
    subscribers: { few: fewSubscribers, many: subscribers },
    changedRows: manyRows,
    firstRows: { few: documents, many: manyDocuments },
  };
}

/** @param hasStandby True to read from a standby instead of the primary. */
export async function measure(
  counts: Counts,
  hasStandby: boolean,
  progress: (message: string) => void,
): Promise<Measurement> {
  const teams = Math.ceil(Math.max(counts.subscribers, counts.clientGroups) / members) + 1;
  return withDeployment({ teams, hasStandby }, (deployment) =>
    withConnections(async (open) => {
      const recorder = new Recorder(deployment, progress);
      await measurePushes(recorder, open, teams, counts);
      await measureRowsWritten(recorder, teams, counts.writes);
      await measureFirstPulls(recorder, open, teams, counts.firstPulls);
      await measureUnchangedPulls(recorder, open, counts);
      await recorder.phase('idle', 1, () => sleep(1000 * counts.idleSeconds));
      await measureStreams(recorder, counts);
      // A server closes idle connections.
      const writer = await writerFor(recorder, open, teams, members - 1);
      await measureChanges(recorder, writer, teams, counts);
      const { rows } = await deployment.pool.query<{ version: string }>(
        `select split_part(version(), ' on ', 1) as version`,
      );
      return { postgres: rows[0]!.version, phases: recorder.phases };
    }),
  );
}
