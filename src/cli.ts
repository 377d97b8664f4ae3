#!/usr/bin/env node
import { readFile } from 'node:fs/promises';
import { cac } from 'cac';
import { help } from './cli/help.js';
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
  cli.help((sections) => [...sections, ...help]);
  cli.version(version);

  cli.parse(process.argv, { run: false });
  const { help: asksForHelp, version: asksForVersion } = cli.options;
  if (asksForHelp || (asksForVersion && !cli.matchedCommand)) return;
  if (cli.matchedCommand) return void (await cli.runMatchedCommand());
  cli.globalCommand.checkUnknownOptions();
  const [unknown] = cli.args;
  if (unknown === undefined) cli.outputHelp();
  else complain(`There is no command ${unknown}. See tidemark --help.`);
  process.exitCode = 2;
}

main().catch((error: unknown) => {
  if (error instanceof Error && error.name === 'CACError') {
    complain(`${error.message}. See tidemark --help.`);
    process.exitCode = 2;
  } else {
    complain(explainFailure(error));
    process.exitCode = 1;
  }
});

function complain(message: string): void {
  process.stderr.write(`${message}\n`);
}
