/** Runs the command line in this process, which is much faster than starting a process for each command. */
import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { runCommandLine } from '../../../packages/tidemark/src/cli/command-line.js';
import type { Output } from '../../support/process.js';

export async function runHere(args: readonly string[], input: string | Buffer = ''): Promise<Omit<Output, 'signal'>> {
  const streams = { stdin: Readable.from([Buffer.from(input)]), stdout: new PassThrough(), stderr: new PassThrough() };
  const [stdout, stderr] = [text(streams.stdout), text(streams.stderr)];
  const code = await runCommandLine(args, streams);
  streams.stdout.end();
  streams.stderr.end();
  return { code, stdout: await stdout, stderr: await stderr };
}
