import { existsSync } from 'node:fs';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { statOf } from '../../bench/processes.js';
import { meter, postmasterOf, type Usage } from '../../bench/scale/measure/meter.js';

/** Takes Postgres some tenths of a second of processor time on any machine. */
const work = 'select sum(n) from generate_series(1, 3000000) n';

describe.runIf(existsSync('/proc/self/stat'))('the processor time of the parts', () => {
  it('is measured separately, including that of ended processes', async () => {
    const cluster = process.env.TIDEMARK_TEST_CLUSTER!;
    const primary = await postmasterOf(cluster);
    const own = process.pid;
    const processes = { server: own, writer: own, primary, standby: primary, walSenders: [] };
    const query = async () => {
      const client = new pg.Client(cluster);
      await client.connect();
      const { rows } = await client.query<{ pid: number }>(`select pg_backend_pid() as pid, (${work})`);
      await client.end();
      await expect.poll(() => statOf(rows[0]!.pid)).toBeUndefined();
    };
    const { cpuMs: queried } = await meter(processes, query);
    expect(queried.primary).toBeGreaterThanOrEqual(100);
    expect(Math.abs(queried.standby! - queried.primary)).toBeLessThanOrEqual(20);
    const { cpuMs: busy, seconds } = await meter(processes, async () => {
      for (const until = process.cpuUsage().user + 300_000; process.cpuUsage().user < until; );
    });
    expect(busy.server).toBeGreaterThanOrEqual(250);
    // Read one after the other, so one may have a tick more.
    expect(Math.abs(busy.writer - busy.server)).toBeLessThanOrEqual(20);
    expect(seconds).toBeGreaterThanOrEqual(0.29);
  });

  it('of the primary excludes that of its WAL senders', async () => {
    const processes = { server: process.pid, writer: process.pid, primary: process.ppid, walSenders: [] };
    const work = async () => {
      for (const until = process.cpuUsage().user + 300_000; process.cpuUsage().user < until; );
    };
    let without: Usage | undefined;
    const all = await meter(processes, async () => {
      without = await meter({ ...processes, walSenders: [process.pid] }, work);
    });
    expect(without!.cpuMs.walSender).toBeGreaterThanOrEqual(250);
    expect(all.cpuMs.primary - without!.cpuMs.primary).toBeGreaterThanOrEqual(250);
  });

  it('is not reported for a process that does not exist', async () => {
    const processes = { server: process.pid, writer: 2 ** 30, primary: process.pid, walSenders: [] };
    await expect(meter(processes, async () => {})).rejects.toThrow('does not report the processor time');
  });
});
