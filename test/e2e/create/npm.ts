/** Runs npm as users do. */
import { join } from 'node:path';
import { root } from '../../support/built.js';
import { type Output, type Running, run, start } from '../../support/process.js';

/** Variables that npm and vitest set for this process, and that users do not have. */
const unset = Object.fromEntries(
  Object.keys(process.env)
    .filter((name) => /^(npm_|VITEST|(NODE_ENV|TEST|DEV|PROD|MODE|SSR|BASE_URL)$)/.test(name))
    .map((name) => [name, undefined]),
);

/** Runs npm to its end. Rejects with its output if it fails. */
export function npm(cwd: string, command: string, ...args: string[]): Promise<string> {
  return npmWith({}, cwd, command, ...args);
}

/** Runs npm to its end, with these environment variables. Rejects with its output if it fails. */
export async function npmWith(
  env: Readonly<Record<string, string>>,
  cwd: string,
  command: string,
  ...args: string[]
): Promise<string> {
  const { code, stdout, stderr } = await run(command, args, { cwd, env: { ...unset, ...env }, program: 'npm' });
  if (code !== 0) throw new Error(`npm ${command} ended with ${code}:\n${stdout}${stderr}`);
  return stdout;
}

/** Packs packages as they are built, by the names of their folders. Returns the paths of the tarballs. */
export async function packed(destination: string, ...names: readonly string[]): Promise<string[]> {
  const folders = names.map((name) => join(root, 'packages', name));
  const args = ['--ignore-scripts', '--json', '--pack-destination', destination, ...folders];
  const tarballs = JSON.parse(await npm(root, 'pack', ...args)) as { filename: string }[];
  return tarballs.map(({ filename }) => join(destination, filename));
}

/** A running script that serves. */
export interface Served {
  /** The address that it has printed. */
  readonly url: string;
  readonly running: Running;
  /** Sends a signal to npm and all its child processes, as a terminal does, and waits for their end. */
  interrupt(): Promise<Output>;
  /** Sends a signal to npm alone, as a service manager does, and waits for the end. */
  terminate(): Promise<Output>;
  /** Kills remaining processes. */
  kill(): void;
}

/** Makes npm run a script that serves, on any free port unless `env` names one. */
export async function serve(cwd: string, script: string, env: Readonly<Record<string, string>> = {}): Promise<Served> {
  const running = start('run', [script], { cwd, env: { ...unset, PORT: '0', ...env }, program: 'npm' });
  const { child, ended, printed } = running;
  const kill = () => {
    try {
      process.kill(-child.pid!, 'SIGKILL');
    } catch {
      // The process has ended.
    }
  };
  const alarm = setTimeout(kill, 30_000);
  const [, url] = await printed(/(http:\/\/127\.0\.0\.1:\d+)/).finally(() => clearTimeout(alarm));
  const end = async (pid: number, signal: NodeJS.Signals) => {
    process.kill(pid, signal);
    const late = setTimeout(kill, 15_000);
    const output = await ended;
    clearTimeout(late);
    if (output.signal === 'SIGKILL') throw new Error(`npm run ${script} did not end within 15 s of ${signal}`);
    return output;
  };
  return {
    url: url!,
    running,
    interrupt: () => end(-child.pid!, 'SIGINT'),
    terminate: () => end(child.pid!, 'SIGTERM'),
    kill,
  };
}
