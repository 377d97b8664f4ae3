/** Writers: seeded random transactions, each writer on its own connection. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import type { Gate } from './gate.js';
import type { Random } from './random.js';
import { type RandomStatement, randomSequence, randomStatement, randomTruncate } from './statements.js';

export interface WorkloadCounts {
  committed: number;
  rolledBack: number;
  /** Refused by the database, because of a constraint or a deadlock. */
  failed: number;
  truncated: number;
}

export interface WriterOptions {
  readonly client: Client;
  readonly random: Random;
  readonly gate: Gate;
  readonly counts: WorkloadCounts;
  readonly isOver: () => boolean;
  /** The longest pause between transactions, in milliseconds. */
  readonly pauseMs: number;
  /** The longest time that a transaction stays open before its end, in milliseconds. */
  readonly holdMs?: number;
  /** True if commits wait until a standby shows them. */
  readonly isSynchronous?: boolean;
}

export function transactionsOf({ committed, rolledBack, failed }: WorkloadCounts): number {
  return committed + rolledBack + failed;
}

export async function write(options: WriterOptions): Promise<void> {
  const { client, random, gate, counts, isOver, pauseMs, holdMs, isSynchronous = false } = options;
  await client.query(`set deadlock_timeout = '30ms'; set lock_timeout = '3s'`);
  if (isSynchronous) await client.query('set synchronous_commit = remote_apply');
  while (!isOver()) {
    await gate.pass(() => runTransaction(client, random, counts, holdMs));
    await sleep(random.between(0, pauseMs));
  }
}

/** One random transaction, committed or not. */
export async function runTransaction(
  client: Client,
  random: Random,
  counts: WorkloadCounts,
  holdMs = 0,
): Promise<void> {
  const truncates = random.chance(0.008);
  const rollsBack = random.chance(0.08);
  const statements = randomTransaction(random);
  const pause = holdMs > 0 ? random.between(0, holdMs) : 0;
  try {
    await client.query('begin');
    if (truncates) await client.query(randomTruncate(random).text);
    for (const statement of statements) await client.query(statement.text, statement.values && [...statement.values]);
    if (pause > 0) await sleep(pause);
    await client.query(rollsBack ? 'rollback' : 'commit');
    counts[rollsBack ? 'rolledBack' : 'committed']++;
    if (truncates && !rollsBack) counts.truncated++;
  } catch (error) {
    if (!isRefusal(error)) throw error;
    await client.query('rollback');
    counts.failed++;
  }
}

/** Errors that a random transaction must expect: constraints, deadlocks, failed serialization, lock timeouts. */
function isRefusal(error: unknown): boolean {
  return /^(23|40|55P03|27000|21000)/.test(String((error as { code?: unknown }).code));
}

function randomTransaction(random: Random): RandomStatement[] {
  const statements: RandomStatement[] = [];
  const count = random.weighted([[6, 1], [3, 2], [2, 4], [1, 8]]); // biome-ignore format: pairs
  while (statements.length < count) {
    const part = random.chance(0.15) ? randomSequence(random) : [randomStatement(random)];
    statements.push(...(random.chance(0.2) ? inSavepoint(random, part) : part));
  }
  return statements;
}

function inSavepoint(random: Random, statements: readonly RandomStatement[]): RandomStatement[] {
  const end = random.chance(0.5) ? 'rollback to sp' : 'release sp';
  return [{ text: 'savepoint sp' }, ...statements, { text: end }];
}
