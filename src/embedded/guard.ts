import { type ChildProcess, spawn } from 'node:child_process';
import type { ServerUser } from './user.js';

/**
 * Starts a shell that stops the server when this process is gone: its input ends then, however this process ended.
 * The returned function dismisses it, which has to happen as soon as the server has ended: its ID may be given anew.
 * Without a shell nothing is guarded, and the next start on the folder ends the server.
 */
export function guardAgainstCrash(server: ChildProcess, user: ServerUser): () => void {
  if (process.platform === 'win32') return () => {};
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
  return () => guard.kill('SIGKILL');
}
