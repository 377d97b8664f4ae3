import { existsSync } from 'node:fs';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { statOf } from '../../bench/processes.js';
import { postmasterOf, type Spent, spentOn } from '../../bench/scale/measure/meter.js';

/** Takes Postgres some tenths of a second of processor time on any machine. */
const work = 'select sum(n) from generate_series(1, 3000000) n';

describe.runIf(existsSync('/proc/self/stat'))('the processor time of the parts', () => {
  it('is measured separately, including that of ended processes', async () => {
    const cluster = process.env.TIDEMARK_TEST_CLUSTER!;
    const primary = await postmasterOf(cluster);
    const server = { pid: process.pid };
    const metered = { servers: [server], writer: { pid: process.pid }, primary, standbys: [primary], senders: [] };
    const query = async () => {
      const client = new pg.Client(cluster);
      await client.connect();
      const { rows } = await client.query<{ pid: number }>(`select pg_backend_pid() as pid, (${work})`);
      await client.end();
      await expect.poll(() => statOf(rows[0]!.pid)).toBeUndefined();
    };
    const busy = await spentOn(metered, query);
    expect(busy.primary).toBeGreaterThanOrEqual(100);
    expect(busy.standby).toBe(busy.primary);
    const own = await spentOn(metered, async () => {
      for (const until = process.cpuUsage().user + 300_000; process.cpuUsage().user < until; );
    });
    expect(own.server).toBeGreaterThanOrEqual(250);
    expect(own.writer).toBe(own.server);
    expect(own.seconds).toBeGreaterThanOrEqual(0.29);
  });

  it('of the primary excludes that of its WAL senders', async () => {
    const all = { servers: [], writer: { pid: process.pid }, primary: process.ppid, standbys: [], senders: [] };
    const work = async () => {
      for (const until = process.cpuUsage().user + 300_000; process.cpuUsage().user < until; );
    };
    let less: Spent | undefined;
    const more = await spentOn(all, async () => {
      less = await spentOn({ ...all, senders: [process.pid] }, work);
    });
    expect(less!.sender).toBeGreaterThanOrEqual(250);
    expect(more.primary - less!.primary).toBeGreaterThanOrEqual(250);
  });

  it('is not reported for a process that does not exist', async () => {
    const missing = { pid: 2 ** 30 };
    const metered = { servers: [], writer: missing, primary: process.pid, standbys: [], senders: [] };
    await expect(spentOn(metered, async () => {})).rejects.toThrow('does not tell the processor time');
  });
});
