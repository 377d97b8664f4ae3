#!/usr/bin/env node
import { readFile } from 'node:fs/promises';
import { Command, CommanderError } from 'commander';
import { help } from './cli/help.js';
import { say, UsageError } from './cli/say.js';
import { explainFailure } from './failure.js';

async function main(): Promise<void> {
  const { version } = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  // `fail` reports errors instead, in the same way for all commands.
  const program = new Command('tidemark').exitOverride().configureOutput({ outputError() {} });
  program
    .description('A sync server for local-first web applications, on Postgres')
    .version(`tidemark/${version}`)
    .addHelpText('afterAll', help);
  const configOption = [
    '--config <file>',
    'default: tidemark.config.ts, .js or .mjs in the working directory',
  ] as const;
  program
    .command('serve')
    .description('Serve pulls and pushes until stopped')
    .option(...configOption)
    .action(async (options) => (await import('./cli/serve.js')).serve(options));
  program
    .command('migrate')
    .description('Install or upgrade Tidemark in the database')
    .option(...configOption)
    .action(async (options) => (await import('./cli/migrate.js')).migrateCommand(options));
  program
    .command('status')
    .description('Show the state of the database and the views')
    .option(...configOption)
    .option('--json', 'print JSON')
    .action(async (options) => (await import('./cli/status.js')).statusCommand(options));
  program
    .command('uninstall')
    .description('Remove Tidemark from the database; your tables stay')
    .option('--yes', 'confirm the removal')
    .action(async (options) => (await import('./cli/migrate.js')).uninstallCommand(options));
  program
    .command('openapi')
    .description('Print the OpenAPI document of the mutators')
    .option(...configOption)
    .action(async (options) => (await import('./cli/openapi.js')).openapiCommand(options));
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
    .action(async (name, args, options) => (await import('./cli/call.js')).callCommand(name, args, options));
  await program.parseAsync();
}

/** Reports what went wrong and returns the exit code. */
function fail(error: unknown): number {
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return 0;
    // Commander has already listed the commands: the command line named none.
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

/** The parser's message as a sentence. Of an unknown option, only the name is repeated: its value may be a secret. */
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

// The reader of the output may close the pipe early, as `head` does.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});

main().catch((error: unknown) => {
  process.exitCode = fail(error);
});
