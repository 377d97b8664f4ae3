/** Meters the processor time of a deployment's parts, all on one machine. Linux only. */
import { readdirSync } from 'node:fs';
import pg from 'pg';
import { type ServerProcess, statOf } from '../../processes.js';

/**
 * The servers that clients pull from, the server that they push to, the primary, its WAL senders, and all standbys
 * together.
 */
export const parts = ['server', 'writer', 'primary', 'sender', 'standby'] as const;
export type Part = (typeof parts)[number];
export type Spent = Readonly<Record<Part, number>> & { readonly seconds: number };

export interface Metered {
  readonly servers: readonly Pick<ServerProcess, 'pid'>[];
  readonly writer: Pick<ServerProcess, 'pid'>;
  /** The postmaster of each Postgres. */
  readonly primary: number;
  readonly standbys: readonly number[];
  /** The primary's WAL sender processes. */
  readonly senders: readonly number[];
}

/** The processor time that each part spends on some work, in milliseconds. */
export async function spentOn(metered: Metered, work: () => Promise<unknown>): Promise<Spent> {
  const before = read(metered);
  const started = performance.now();
  await work();
  const seconds = (performance.now() - started) / 1000;
  const after = read(metered);
  const difference = (part: Part) => after[part] - before[part];
  return {
    server: difference('server'),
    writer: difference('writer'),
    primary: difference('primary'),
    sender: difference('sender'),
    standby: difference('standby'),
    seconds,
  };
}

function read({ servers, writer, primary, standbys, senders }: Metered): Record<Part, number> {
  const children = childrenOf([primary, ...standbys]);
  const sender = sum(senders.map(ownMs));
  return {
    server: sum(servers.map(({ pid }) => ownMs(pid))),
    writer: ownMs(writer.pid),
    primary: ownMs(primary) + children.get(primary)! - sender,
    sender,
    standby: sum(standbys.map((pid) => ownMs(pid) + children.get(pid)!)),
  };
}

function ownMs(pid: number): number {
  const stat = statOf(pid);
  if (!stat) throw new Error(`Linux does not tell the processor time of process ${pid}`);
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

function sum(values: readonly number[]): number {
  return values.reduce((all, value) => all + value, 0);
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
