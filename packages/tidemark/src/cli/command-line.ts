/** The command line: its commands, and how it reports their errors. */
import { readFile } from 'node:fs/promises';
import { Command, CommanderError } from 'commander';
import { explainFailure } from '../failure.js';
import { createTerminal, type Streams, type Terminal, UsageError } from './terminal.js';

/** The text that `--help` prints below the commands and options. */
const help = `
Environment:
  DATABASE_URL         Postgres 15 to 18; if not set, an embedded one keeps its data in .tidemark
  DATABASE_READ_URL    its standbys, which answer pulls and reads; separated by commas
  TIDEMARK_DATA        another folder for the embedded database
  PORT, HOST           where serve listens (default: 3000, all addresses)
  LOG_LEVEL            debug, info, warn, error or silent (default: info)
  SYNC_MUTATE_URL      forwards pushes to the application's mutate endpoint
  SYNC_MUTATE_API_KEY  sent there as X-Api-Key
  TIDEMARK_URL         the server URL for call and pull (default: http://localhost:3000)
  TIDEMARK_TOKEN       the token that call and pull send as Authorization: Bearer

Examples:
  $ tidemark serve
  $ DATABASE_URL=postgres://app@db.example.com/app tidemark migrate
  $ tidemark migrate --all --parallel 8
  $ tidemark status --json
  $ tidemark doctor --strict
  $ tidemark serve --config config/tidemark.config.ts
  $ tidemark serve --workers auto
  $ tidemark openapi > openapi.json
  $ tidemark call list.create '{"id":"l1","name":"Home"}' --token ann
  $ tidemark call list.create - --dry-run < list.json
  $ tidemark pull todo --follow --token ann
  $ tidemark pull issue --arg projectID=7 --token ann

tidemark.config.ts:
  import { defineConfig } from 'tidemark';
  import { authenticate, mutators, views } from './sync.ts';

  export default defineConfig({ views, mutators, authenticate });

Exit codes:
  0  done
  1  the command failed, status found a problem, doctor an error, or the server refused the request
  2  the command line is wrong, or the args are not JSON
  3  call, pull: the server is unreachable, too slow or busy; a retry may succeed
`;

/**
 * Runs the command that the arguments name.
 * @returns the exit code
 */
export async function runCommandLine(args: readonly string[], streams: Streams): Promise<number> {
  const terminal = createTerminal(streams);
  let exitCode = 0;
  const program = createProgram(terminal, await version(), (code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync(args, { from: 'user' });
    return exitCode;
  } catch (error) {
    return fail(terminal, error);
  }
}

async function version(): Promise<string> {
  const text = await readFile(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

/** @param exit called with the exit code of a command that has several */
function createProgram(terminal: Terminal, version: string, exit: (code: number) => void): Command {
  const { print, say } = terminal;
  const program = new Command('tidemark')
    .description('A sync server for local-first web applications, on Postgres')
    .version(`tidemark/${version}`)
    .addHelpText('afterAll', help)
    .exitOverride()
    // `fail` reports errors instead, the same way for all commands.
    .configureOutput({ writeOut: print, writeErr: (text) => say(text.trimEnd()), outputError() {} });
  const configOption = [
    '--config <file>',
    'default: tidemark.config.ts, .js or .mjs in the working directory',
  ] as const;
  program
    .command('serve')
    .description('Serve pulls and pushes until stopped')
    .option(...configOption)
    .option('--workers <n>', 'serve in n processes on one port, auto: one a core; each has ten connections to Postgres')
    .action(async ({ workers, ...options }) =>
      workers === undefined
        ? (await import('./serve.js')).serve(terminal, options)
        : (await import('./serve-workers.js')).serveWorkers(terminal, workers, options),
    );
  program
    .command('migrate')
    .description('Install or upgrade Tidemark in the database')
    .option(...configOption)
    .option('--all', 'in the databases of all tenants, where the configuration has tenants')
    .option('--parallel <n>', 'how many tenants at once', '4')
    .action(async (options) => exit(await (await import('./migrate.js')).migrateCommand(terminal, options)));
  program
    .command('status')
    .description('Show the state of the database and the views')
    .option(...configOption)
    .option('--json', 'print JSON')
    .action(async (options) => exit(await (await import('./status.js')).statusCommand(terminal, options)));
  program
    .command('doctor')
    .description('Find what is wrong with the database and the views, or will be, and say what to do')
    .option(...configOption)
    .option('--json', 'print JSON')
    .option('--strict', 'exit with 1 for warnings too')
    .action(async (options) => exit(await (await import('./doctor.js')).doctorCommand(terminal, options)));
  program
    .command('rotate-secret')
    .description('Create a new secret for signing cookies; clients are not reset')
    .option(...configOption)
    .action(async (options) => (await import('./rotate-secret.js')).rotateSecretCommand(terminal, options));
  program
    .command('uninstall')
    .description('Remove Tidemark from the database; your tables stay')
    .option('--yes', 'confirm the removal')
    .action(async (options) => (await import('./migrate.js')).uninstallCommand(terminal, options));
  program
    .command('openapi')
    .description('Print the OpenAPI document of the views and mutators')
    .option(...configOption)
    .action(async (options) => (await import('./openapi.js')).openapiCommand(terminal, options));
  program
    .command('call')
    .description('Call a mutator on a running server')
    .argument('<name>', "the mutator's name, such as todo.create")
    .argument('[args]', 'JSON, or - for standard input')
    .option('--url <url>', 'base URL of /api/mutators; default: TIDEMARK_URL, or http://localhost:3000')
    .option('--token <token>', 'sent as Authorization: Bearer; default: TIDEMARK_TOKEN')
    .option('--idempotency-key <key>', 'apply the call once, even if sent again with this key')
    .option('--dry-run', 'roll the call back, and show its result')
    .option('--timeout <seconds>', 'give up after this long', '30')
    .action(async (name, args, options) =>
      exit(await (await import('./remote/call.js')).callCommand(terminal, name, args, options)),
    );
  program
    .command('pull')
    .description('Read a view of a running server, or one of its rows')
    .argument('<view>', "the view's name, such as todo")
    .argument('[key]', "the row's key")
    .option('--arg <name=value>', 'an argument of the view; can be repeated, also for the values of a list', append)
    .option('--follow', 'go on with what changes, a line of JSON each time')
    .option('--since <cookie>', 'print only what has changed since this cookie')
    .option('--url <url>', 'base URL of /api/views; default: TIDEMARK_URL, or http://localhost:3000')
    .option('--token <token>', 'sent as Authorization: Bearer; default: TIDEMARK_TOKEN')
    .option('--timeout <seconds>', 'give up after this long without an answer', '30')
    .action(async (view, key, options) =>
      exit(await (await import('./remote/pull.js')).pullCommand(terminal, view, key, options)),
    );
  return program;
}

/** Collects the values of an option that is given several times. */
function append(value: string, others: readonly string[] = []): readonly string[] {
  return [...others, value];
}

/** Reports an error and returns the exit code. */
function fail({ say }: Terminal, error: unknown): number {
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return 0;
    // The command line names no command, so Commander has already listed them.
    if (error.code !== 'commander.help') say(`${usageOf(error)}. See tidemark --help.`);
    return 2;
  }
  if (error instanceof UsageError) {
    say(`${error.message}. See tidemark --help.`);
    return 2;
  }
  say(explainFailure(error));
  return 1;
}

/** Returns the parser's message as a sentence. Omits the value of an unknown option, because it may be a secret. */
function usageOf({ code, message }: CommanderError): string {
  if (code === 'commander.unknownOption') {
    const name = /'(?<name>--[a-z][a-z-]*)/.exec(message)?.groups?.name;
    return name === undefined ? 'An argument begins with - but is not an option' : `Unknown option ${name}`;
  }
  const sentence = message
    .replace(/^error: /, '')
    .replaceAll('\n', ' ')
    .replace(/\.$/, '');
  return sentence.charAt(0).toUpperCase() + sentence.slice(1);
}
