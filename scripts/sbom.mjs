// Writes sbom.cdx.json: the packages of an installation of the server, pg and the embedded Postgres at the versions that
// the tests use, and the parser, which the build embeds in one of the server's modules. The client has no dependencies.
// Leaves out the other workspaces (examples, tests), which npm's own commands would include.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (name) => JSON.parse(readFileSync(join(root, name), 'utf8'));

const { name, version, description, license, ...installed } = read('packages/tidemark/package.json');
const { pg } = installed.peerDependencies;
const parser = 'libpg-query';
const dependencies = { ...installed.dependencies, pg, [parser]: read('package.json').devDependencies[parser] };
const { optionalDependencies } = read('packages/embedded-postgres/package.json');
const manifest = { name, version, description, license, dependencies, optionalDependencies };
const lock = read('package-lock.json');
lock.packages = Object.fromEntries(
  Object.entries(lock.packages).filter(([path, { link }]) => path.startsWith('node_modules/') && !link),
);

const parent = mkdtempSync(join(tmpdir(), 'tidemark-sbom-'));
// npm names the package after its folder.
const folder = join(parent, name);
mkdirSync(folder);
try {
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(lock));
  const npm = (...args) => execFileSync('npm', [...args, '--package-lock-only'], { cwd: folder, encoding: 'utf8' });
  // Removes everything that the package does not need from the lockfile.
  npm('install', '--offline', '--ignore-scripts');
  writeFileSync(join(root, 'sbom.cdx.json'), npm('sbom', '--sbom-format', 'cyclonedx'));
} finally {
  rmSync(parent, { recursive: true, force: true });
}
