/** Meters the processor time of a deployment's parts, all on one machine. Linux only. */
import { readdirSync } from 'node:fs';
import pg from 'pg';
import { statOf } from '../../processes.js';

/**
 * The server that clients pull from, the server that they push to, the primary without its WAL senders, these, and the
 * standby.
 */
type Part = 'server' | 'writer' | 'primary' | 'walSender' | 'standby';

/** The duration of some work, and the processor time that each part used, in milliseconds. */
export interface Usage {
  readonly seconds: number;
  readonly cpuMs: Readonly<Record<Part, number>>;
}

/** The process IDs of the parts: of each Postgres, that of the postmaster. */
export interface Processes {
  readonly server: number;
  readonly writer: number;
  readonly primary: number;
  readonly walSenders: readonly number[];
  readonly standby?: number | undefined;
}

export async function meter(processes: Processes, work: () => Promise<unknown>): Promise<Usage> {
  const before = read(processes);
  const started = performance.now();
  await work();
  const seconds = (performance.now() - started) / 1000;
  const after = read(processes);
  const difference = (part: Part) => after[part] - before[part];
  return {
    seconds,
    cpuMs: {
      server: difference('server'),
      writer: difference('writer'),
      primary: difference('primary'),
      walSender: difference('walSender'),
      standby: difference('standby'),
    },
  };
}

function read({ server, writer, primary, walSenders, standby }: Processes): Usage['cpuMs'] {
  const children = childrenOf(standby === undefined ? [primary] : [primary, standby]);
  const postgres = (postmaster: number) => ownMs(postmaster) + children.get(postmaster)!;
  const walSender = walSenders.reduce((sum, pid) => sum + ownMs(pid), 0);
  return {
    server: ownMs(server),
    writer: ownMs(writer),
    primary: postgres(primary) - walSender,
    walSender,
    standby: standby === undefined ? 0 : postgres(standby),
  };
}

function ownMs(pid: number): number {
  const stat = statOf(pid);
  if (!stat) throw new Error(`Linux does not report the processor time of process ${pid}`);
  return stat.ownMs;
}

/** The processor time of each process's children, including those that have ended. */
function childrenOf(pids: readonly number[]): Map<number, number> {
  const found = new Map(pids.map((pid) => [pid, statOf(pid)?.endedChildrenMs ?? 0]));
  for (const name of readdirSync('/proc')) {
    const stat = /^\d+$/.test(name) ? statOf(name) : undefined;
    const known = stat && found.get(stat.parent);
    if (known !== undefined) found.set(stat!.parent, known + stat!.ownMs);
  }
  return found;
}

/** The process ID of the postmaster of a Postgres on this machine. */
export async function postmasterOf(url: string): Promise<number> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    return statOf(rows[0]!.pid)!.parent;
  } finally {
    await client.end();
  }
}
