import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { config, database, folder, runConfigured, useDatabase, useFolder } from './commands.js';

useFolder();

useDatabase();

const run = runConfigured;

it('tidemark doctor prints each finding with its reason and remedy, and counts them', async () => {
  const { code, stdout } = await run('doctor');
  expect(stdout).toContain(`ERROR  not-migrated
  Tidemark is not installed in this database.
  Why: Servers do not start, and pulls return 503.
  Do:  Run \`tidemark migrate\`.
`);
  expect(stdout).toContain(`
  SQL: alter system set fsync = on; select pg_reload_conf();
`);
  expect(stdout).toMatch(/\n\nFound 2 errors, 1 warning, 1 note\.\n$/);
  expect(code).toBe(1);
});

it('tidemark doctor --json has a stable format, the gravest findings first, and no secrets', async () => {
  await run('migrate');
  const { code, stdout } = await run('doctor', '--json');
  const report = JSON.parse(stdout);
  expect(Object.keys(report)).toEqual(['findings', 'summary']);
  for (const finding of report.findings) {
    expect(Object.keys(finding).toSorted()).toEqual(['advice', 'code', 'severity', 'sql', 'subject', 'what', 'why']);
  }
  const severities = report.findings.map(({ severity }: { severity: string }) => severity);
  expect(severities).toEqual(['error', 'warning', 'warning', 'info']);
  expect(report.summary).toEqual({ errors: 1, warnings: 2, infos: 1 });
  expect(code).toBe(1);
  const { rows } = await database.pool.query('select secret from tidemark.meta');
  expect(stdout).not.toContain(rows[0].secret);
  expect(stdout).not.toContain(new URL(database.url).password);
});

it('tidemark doctor prints no control characters from names', async () => {
  const red = config.replace("'id',\n});\nconst latest", "'id',\n  prefix: 'n/',\n});\nconst latest");
  const name = 'la\\u001b[31mtest';
  writeFileSync(
    join(folder, 'tidemark.config.ts'),
    red.replace('views: { note, latest }', `views: { note, '${name}': latest }`),
  );
  const { stdout } = await run('doctor');
  expect(stdout).toContain('The view "la [31mtest" is compared');
});
