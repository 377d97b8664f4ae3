import { type ChildProcess, spawn } from 'node:child_process';
import { endOf } from './processes.js';
import type { ServerUser } from './user.js';

/**
 * Starts a shell that stops the server when this process ends. However it ends, the shell's input ends with it. As soon
 * as the server has ended, the shell is killed, because another process may get the server's process ID. Without a
 * shell there is no guard, and the next start on the folder stops the server.
 */
export function guardAgainstCrash(server: ChildProcess, user: ServerUser): void {
  if (process.platform === 'win32') return;
  const script = 'read -r _; kill -INT "$0"';
  const guard = spawn('/bin/sh', ['-c', script, String(server.pid)], {
    ...user,
    cwd: '/',
    env: {},
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  guard.on('error', () => {});
  guard.stdin.on('error', () => {});
  guard.unref();
  (guard.stdin as unknown as { unref(): void }).unref();
  void endOf(server).then(() => guard.kill('SIGKILL'));
}
