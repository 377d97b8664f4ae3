#!/usr/bin/env node
import { readFile } from 'node:fs/promises';
import { cac } from 'cac';
import { say } from './cli/database.js';
import { help } from './cli/help.js';
import { migrateCommand } from './cli/migrate.js';
import { serve } from './cli/serve.js';
import { statusCommand } from './cli/status.js';
import { uninstallCommand } from './cli/uninstall.js';
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
    .action(serve);
  cli
    .command('migrate', 'Install or upgrade what Tidemark keeps in the database')
    .option(...configOption)
    .action(migrateCommand);
  cli
    .command('status', 'Show how the database and the views stand')
    .option(...configOption)
    .option('--json', 'Print JSON')
    .action(statusCommand);
  cli
    .command('uninstall', 'Remove Tidemark from the database; your tables stay')
    .option('--yes', 'Really do it')
    .action(uninstallCommand);
  cli.help((sections) => [...sections, ...help]);
  cli.version(version);

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

main().catch((error: unknown) => {
  if (error instanceof Error && error.name === 'CACError') {
    say(`${error.message}. See tidemark --help.`);
    process.exitCode = 2;
  } else {
    say(explainFailure(error));
    process.exitCode = 1;
  }
});
