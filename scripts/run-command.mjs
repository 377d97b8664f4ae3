/** Runs one of several programs by its name, with the arguments that follow. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/**
 * @typedef {object} Command
 * @property {string} file the program, in TypeScript, relative to the root
 * @property {string} about what it does, for the list that an unknown name prints
 * @property {Record<string, string>} [env] its additional environment variables
 * @property {boolean} [hasHelp] true if it answers `--help` itself; otherwise its opening comment does
 *
 * @param {string} usage how to call the list, such as `npm run stress --`
 * @param {Record<string, Command>} commands by name
 * @param {string[]} args the name, then the program's own arguments
 */
export function runCommand(usage, commands, [name, ...args]) {
  const command = Object.hasOwn(commands, name ?? '') ? commands[name] : undefined;
  if (command === undefined) {
    console.log(`${usage} <name> [options]\n`);
    for (const [name, { about }] of Object.entries(commands)) console.log(`  ${name.padEnd(14)} ${about}`);
    process.exitCode = name === '--help' ? 0 : 2;
    return;
  }
  if (args.includes('--help') && !command.hasHelp) {
    console.log(openingComment(command.file));
    return;
  }
  const program = spawn(process.execPath, ['--import', 'tsx', command.file, ...args], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, ...command.env },
  });
  // The terminal interrupts both processes. The program ends what it has started, then this process ends.
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => program.kill(signal));
  program.on('exit', (code, signal) => {
    process.exitCode = code ?? (signal ? 1 : 0);
  });
}

/** @param {string} file relative to the root */
function openingComment(file) {
  const [, comment = ''] = /^\/\*\*(.*?)\*\//s.exec(readFileSync(join(root, file), 'utf8')) ?? [];
  return comment.replace(/^ \* ?/gm, '').trim();
}
