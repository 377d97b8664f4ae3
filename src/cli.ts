#!/usr/bin/env node
import { readFile } from 'node:fs/promises';
import { cac } from 'cac';
import { readCallLine } from './cli/call-line.js';
import { help } from './cli/help.js';
import { say, UsageError } from './cli/say.js';
import { explainFailure } from './failure.js';

async function main(): Promise<void> {
  const { version } = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  const cli = cac('tidemark');
  const configOption = [
    '--config <file>',
    'Default: tidemark.config.ts, .js or .mjs in the working directory',
  ] as const;
  cli
    .command('serve', 'Serve pulls and pushes until it is stopped')
    .option(...configOption)
    .action(async (options) => (await import('./cli/serve.js')).serve(options));
  cli
    .command('migrate', 'Install or upgrade what Tidemark keeps in the database')
    .option(...configOption)
    .action(async (options) => (await import('./cli/migrate.js')).migrateCommand(options));
  cli
    .command('status', 'Show how the database and the views stand')
    .option(...configOption)
    .option('--json', 'Print JSON')
    .action(async (options) => (await import('./cli/status.js')).statusCommand(options));
  cli
    .command('uninstall', 'Remove Tidemark from the database; your tables stay')
    .option('--yes', 'Really do it')
    .action(async (options) => (await import('./cli/uninstall.js')).uninstallCommand(options));
  cli
    .command('openapi', 'Print the OpenAPI document of the mutators')
    .option(...configOption)
    .action(async (options) => (await import('./cli/openapi.js')).openapiCommand(options));
  cli
    .command('call <name> [args]', 'Call a mutator on a running server; args are JSON, or - for standard input')
    .option('--url <url>', 'Where /api/mutators is. Default: TIDEMARK_URL, or http://localhost:3000')
    .option('--token <token>', 'Sent as Authorization: Bearer. Default: TIDEMARK_TOKEN')
    .option('--idempotency-key <key>', 'Apply the call once, however often it is sent with this key')
    .option('--dry-run', 'Take back what the call does, and show its result')
    .option('--timeout <seconds>', 'Give up after so long. Default: 30')
    .action(() => {
      throw new UsageError('The options of call stand behind it');
    });
  cli.help((sections) => [...sections, ...help]);
  cli.version(version);

  // Its values are taken as they stand, which cac would not do.
  if (process.argv[2] === 'call') {
    const line = readCallLine(process.argv.slice(3));
    if (line !== null) return (await import('./cli/call.js')).call(line);
  }
  cli.parse(process.argv, { run: false });
  const { help: asksForHelp, version: asksForVersion } = cli.options;
  if (asksForHelp || (asksForVersion && !cli.matchedCommand)) return;
  if (cli.matchedCommand) return void (await cli.runMatchedCommand());
  cli.globalCommand.checkUnknownOptions();
  const [unknown] = cli.args;
  if (unknown === undefined) cli.outputHelp();
  else say(`There is no command ${unknown}. See tidemark --help.`);
  process.exitCode = 2;
}

// Whoever reads the output may have had enough of it.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});

main().catch((error: unknown) => {
  if (error instanceof UsageError || (error instanceof Error && error.name === 'CACError')) {
    say(`${error.message}. See tidemark --help.`);
    process.exitCode = 2;
  } else {
    say(explainFailure(error));
    process.exitCode = 1;
  }
});
