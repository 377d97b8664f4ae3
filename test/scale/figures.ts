/** Figures as a measurement might have them. */
import type { Costs, Cpu } from '../../bench/scale/measure/costs.js';
import type { Figures } from '../../bench/scale/model/workload.js';

const none: Cpu = { server: 0, primary: 0, standby: 0 };

const costs = (
  read: (server: number, database: number) => Cpu,
  pushedAt: Cpu,
  sent: Cpu,
  pollsOfPrimary: Pick<Costs, 'primaryLook' | 'primaryNews'>,
): Costs => ({
  ...pollsOfPrimary,
  upkeep: read(0, 0),
  push: pushedAt,
  sending: sent,
  firstPull: read(1000, 500),
  firstRow: read(2, 1.5),
  unchanged: read(60, 0),
  look: read(60, 60),
  news: read(1500, 1500),
  seat: read(0.5, 0.5),
  pair: read(0, 2),
  poke: read(20, 0),
  delta: read(200, 20),
  statement: read(500, 500),
  open: read(400, 0),
  stream: read(1, 0),
});

export const figures: Figures = {
  primary: costs(
    (server, primary) => ({ server, primary, standby: 0 }),
    { server: 400, primary: 400, standby: 0 },
    none,
    { primaryLook: none, primaryNews: none },
  ),
  standby: costs(
    (server, standby) => ({ server, primary: 0, standby }),
    { server: 400, primary: 405, standby: 30 },
    { ...none, primary: 20 },
    { primaryLook: { ...none, primary: 40 }, primaryNews: { ...none, primary: 200 } },
  ),
  traffic: { unchanged: 1000, delta: 1200, firstRow: 200, push: 600, poke: 17, stream: 0.5 },
  memory: { serverMB: 100, streamKB: 10, groupKB: 3 },
};
