/** Costs as a measurement might find them, with reads from the primary and from a standby. */
import type { Costs } from '../../bench/scale/measure/costs.js';
import type { Cpu } from '../../bench/scale/measure/phase-costs.js';

const none: Cpu = { server: 0, primary: 0, standby: 0 };

const costs = (
  read: (server: number, database: number) => Cpu,
  pushedAt: Cpu,
  sent: Cpu,
  pollsOfPrimary: Pick<Costs, 'emptyPrimaryPoll' | 'primaryPoll'>,
): Costs => ({
  ...pollsOfPrimary,
  idleSecond: read(0, 0),
  push: pushedAt,
  walSend: sent,
  firstPull: read(1000, 500),
  firstPullRow: read(2, 1.5),
  unchangedPull: read(60, 0),
  emptyPoll: read(60, 60),
  poll: read(1500, 1500),
  cohort: read(0.5, 0.5),
  cohortRow: read(0, 2),
  poke: read(20, 0),
  deltaPull: read(200, 20),
  deltaStatement: read(500, 500),
  openStream: read(400, 0),
  streamSecond: read(1, 0),
});

export const exampleCosts: Readonly<Record<'primary' | 'standby', Costs>> = {
  primary: costs(
    (server, primary) => ({ server, primary, standby: 0 }),
    { server: 400, primary: 400, standby: 0 },
    none,
    { emptyPrimaryPoll: none, primaryPoll: none },
  ),
  standby: costs(
    (server, standby) => ({ server, primary: 0, standby }),
    { server: 400, primary: 405, standby: 30 },
    { ...none, primary: 20 },
    { emptyPrimaryPoll: { ...none, primary: 40 }, primaryPoll: { ...none, primary: 200 } },
  ),
};
