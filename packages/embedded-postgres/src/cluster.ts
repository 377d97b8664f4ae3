import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { readIfThere } from './processes.js';
import { type Programs, run } from './server.js';
import { SetupError } from './setup-error.js';
import { changeOwner } from './user.js';

/** Clients can connect only with a password, over TCP. The server listens only on 127.0.0.1. */
const accessRules = 'host all all 127.0.0.1/32 scram-sha-256\n';

/** Returns the major Postgres version of the data folder; undefined before the first start. */
export function majorOf(data: string): number | undefined {
  const text = readIfThere(join(data, 'PG_VERSION'));
  return text === undefined ? undefined : Number.parseInt(text, 10);
}

/**
 * Creates the data folder with the role `postgres` and the database `tidemark`. The folder gets its name only when it
 * is complete, so that a later start never mistakes the remains of an interrupted one for data.
 * @param durable true to flush the data to disk
 * @throws SetupError if the folder exists and contains other files, or if a Postgres program fails.
 */
export async function createCluster(
  programs: Programs,
  major: number,
  data: string,
  password: string,
  durable: boolean,
): Promise<void> {
  const draft = `${data}.new-${randomUUID()}`;
  mkdirSync(draft, { mode: 0o700 });
  try {
    changeOwner(draft, programs.user);
    await run(programs, 'initdb', draft, (folder) => ['-D', folder, ...initOptions(major, durable)]);
    writeFileSync(join(draft, 'pg_hba.conf'), accessRules);
    await runSingle(programs, draft, [passwordStatement(password), 'create database tidemark']);
    renameSync(draft, data);
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    if (readdirIfThere(data).length > 0) throw new SetupError(`${data} contains files that are not Postgres data.`);
    throw error;
  }
}

/** Sets a new password without the old one. The server must not be running. */
export async function resetPassword(programs: Programs, data: string, password: string): Promise<void> {
  await runSingle(programs, data, [passwordStatement(password)]);
}

/** With `--auth=reject`, because initdb would otherwise need the password in a file that the server's user can read. */
function initOptions(major: number, durable: boolean): string[] {
  const common = ['--username=postgres', '--auth=reject', '--encoding=UTF8', '--locale=C', '--no-instructions'];
  const builtin = major >= 17 ? ['--locale-provider=builtin', '--builtin-locale=C.UTF-8'] : [];
  return [...common, ...builtin, ...(durable ? [] : ['--no-sync'])];
}

/** The password needs no quoting, because generated ones consist of letters, digits, `-` and `_`. */
function passwordStatement(password: string): string {
  return `alter role postgres password '${password}'`;
}

/** Runs statements in single-user mode, which needs no password. It reads one statement per line. */
async function runSingle(programs: Programs, data: string, statements: readonly string[]): Promise<void> {
  const options = ['-c', 'exit_on_error=on', '-c', 'log_min_error_statement=panic', '-c', 'log_checkpoints=off'];
  const input = statements.map((statement) => `${statement};\n`).join('');
  await run(programs, 'postgres', data, (folder) => ['--single', '-D', folder, ...options, 'postgres'], input);
}

/** Removes drafts that interrupted starts left behind. If an initdb is still writing, the next start tries again. */
export function removeDrafts(data: string): void {
  const drafts = readdirIfThere(dirname(data)).filter((name) => name.startsWith(`${basename(data)}.new-`));
  for (const name of drafts) removeIfPossible(join(dirname(data), name));
}

function removeIfPossible(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  } catch {
    // A remaining draft only takes disk space: no start mistakes it for data.
  }
}

function readdirIfThere(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
