import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const root = new URL('../../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), 'utf8');

/** The names of an interface's own fields. Its file is relative to `packages`. */
function fieldsOf(file: string, name: string): string[] {
  const body = new RegExp(`^export interface ${name}\\b[^{]*\\{\\n([\\s\\S]*?)^\\}`, 'm').exec(
    read(`packages/${file}`),
  )?.[1];
  if (body === undefined) throw new Error(`There is no interface ${name} in ${file}`);
  return [...body.matchAll(/^ {2}readonly (\w+)\??:/gm)].map((match) => match[1]!);
}

/** The first column of the table under a heading. */
function rowsUnder(heading: string): string[] {
  const section = read('docs/reference.md')
    .split(/^#+ /m)
    .find((text) => text.startsWith(`${heading}\n`));
  if (section === undefined) throw new Error(`There is no heading ${heading}`);
  return [...section.matchAll(/^\| `(\w+)` \|/gm)].map((match) => match[1]!);
}

const sample = () => fieldsOf('tidemark/src/view/sample.ts', 'SampleOptions');

it.each<[heading: string, fields: () => string[]]>([
  ['`defineView`', () => fieldsOf('tidemark/src/view/define.ts', 'ViewDefinition')],
  ['`createSync`', () => [...fieldsOf('tidemark/src/sync-options.ts', 'SyncOptions'), ...sample()]],
  ['`timeouts`', () => fieldsOf('tidemark/src/sync-options.ts', 'TimeoutOptions')],
  ['`pokes`', () => fieldsOf('tidemark/src/sync-options.ts', 'PokesOptions')],
  ['`paths`', () => fieldsOf('tidemark/src/endpoints/sync-paths.ts', 'SyncPathOptions')],
  ['`rates`', () => fieldsOf('tidemark/src/limits/rates.ts', 'RateOptions')],
  ['`limits`', () => fieldsOf('tidemark/src/limits/request-limits.ts', 'RequestLimits')],
  ['`forward`', () => fieldsOf('tidemark/src/endpoints/forward.ts', 'ForwardOptions')],
  ['`rest`', () => fieldsOf('tidemark/src/rest.ts', 'RestOptions')],
  ['`createTenants`', () => fieldsOf('tidemark/src/tenants/options.ts', 'TenantsOptions')],
  ["A tenant's options", () => fieldsOf('tidemark/src/tenants/options.ts', 'TenantOptions')],
  ['`createRest`', () => fieldsOf('tidemark/src/rest.ts', 'CreateRestOptions')],
  [
    '`migrate` and `uninstall`',
    () => [
      ...fieldsOf('tidemark/src/migrate.ts', 'UninstallOptions'),
      ...fieldsOf('tidemark/src/migrate.ts', 'MigrateOptions'),
      ...sample(),
    ],
  ],
  ['`tidemark.config.ts`', () => fieldsOf('tidemark/src/config.ts', 'Config')],
  ['`createClient`', () => fieldsOf('client/src/options.ts', 'ClientOptions')],
  [
    '`tidemarkCollectionOptions`',
    () => [
      ...fieldsOf('client/src/tanstack-db/collection-options.ts', 'TidemarkCollectionConfig'),
      ...fieldsOf('client/src/tanstack-db/collection-options.ts', 'OnDemandConfig'),
    ],
  ],
  ['`jwtAuth`', () => fieldsOf('tidemark/src/auth/jwt.ts', 'JWTAuthOptions')],
  ['`sessionAuth`', () => fieldsOf('tidemark/src/auth/session.ts', 'SessionAuthOptions')],
  ['`withCORS`', () => fieldsOf('tidemark/src/auth/cors.ts', 'CORSOptions')],
  ['`listen` of `tidemark/node`', () => fieldsOf('tidemark/src/node.ts', 'ListenOptions')],
  ['`openDatabase` of `tidemark/node`', () => fieldsOf('tidemark/src/environment.ts', 'OpenDatabaseOptions')],
])('docs/reference.md lists exactly the options of %s', (heading, fields) => {
  const expected = fields();
  expect(expected.length).toBeGreaterThan(0);
  expect(rowsUnder(heading).toSorted()).toEqual(expected.toSorted());
});

it('docs/reference.md lists exactly the environment variables that the code reads', () => {
  const sources = ['packages/tidemark/src/environment.ts', 'packages/tidemark/src/cli/remote/server-line.ts']
    .map(read)
    .join('\n');
  const names = [...sources.matchAll(/variable\('(\w+)'\)|env\.(TIDEMARK_\w+)/g)].map((match) => match[1] ?? match[2]!);
  expect(rowsUnder('Environment variables').toSorted()).toEqual([...new Set(names)].toSorted());
});

it('docs/reference.md lists exactly the commands', () => {
  const commands = [...read('packages/tidemark/src/cli/command-line.ts').matchAll(/\.command\('([\w-]+)'\)/g)].map(
    (match) => match[1]!,
  );
  const listed = [...read('docs/reference.md').matchAll(/^\| `tidemark ([\w-]+)/gm)].map((match) => match[1]!);
  expect(listed.toSorted()).toEqual(commands.toSorted());
});
