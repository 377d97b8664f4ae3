// Compiles the packages, embeds the files that the server would read, and bundles the client's engine. Then compiles
// the examples, which import the packages by their public names, bundles their web applications, and checks the types of
// the template of `npm create tidemark`. With arguments, compiles only the packages in these folders.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { bundleEngine } from './bundle-engine.mjs';
import { embed } from './embed.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

async function run(program, ...args) {
  const child = spawn(process.execPath, [`${root}node_modules/${program}`, ...args], { stdio: 'inherit' });
  const [code] = await once(child, 'exit');
  if (code !== 0) process.exit(1);
}

function copySwagger() {
  const swagger = `${root}node_modules/swagger-ui-dist`;
  const assets = `${root}packages/tidemark/assets`;
  for (const file of ['swagger-ui.css', 'swagger-ui-bundle.js'])
    copyFileSync(`${swagger}/${file}`, `${assets}/${file}`);
  // Both are under this package's licence, which is published with them, as are their notice and those of bundled code.
  const [notice, bundled] = ['NOTICE', 'swagger-ui-bundle.js.LICENSE.txt'].map((file) =>
    readFileSync(`${swagger}/${file}`, 'utf8').trim(),
  );
  writeFileSync(
    `${assets}/swagger-ui-bundle.js.LICENSE.txt`,
    `${notice}\nLicensed under the Apache License, Version 2.0: https://www.apache.org/licenses/LICENSE-2.0\n\nIt contains:\n\n${bundled}\n`,
  );
}

async function compile(name) {
  const folder = `${root}packages/${name}`;
  rmSync(`${folder}/dist`, { recursive: true, force: true });
  if (name === 'client') await bundleEngine(`${folder}/dist`);
  await run('typescript/bin/tsc', '-p', folder);
}

async function embedFiles() {
  copySwagger();
  await embed(`${root}packages/tidemark/dist`);
}

const chosen = process.argv.slice(2);
// Each after the packages whose types it imports.
const packages = chosen.length > 0 ? chosen : ['client', 'embedded-postgres', 'tidemark'];
for (const name of packages) await compile(name);
const embedding = packages.includes('tidemark') ? embedFiles() : Promise.resolve();
if (chosen.length > 0) {
  await embedding;
  process.exit();
}

const examples = ['tasks', 'tanstack', 'tracker'].map((name) => `examples/${name}`);
const projects = [
  ...examples.flatMap((example) => [example, `${example}/web`]),
  'packages/create-tidemark',
  'packages/create-tidemark/template',
];

async function compileProjects() {
  for (const project of projects.map((folder) => `${folder}/tsconfig.json`)) {
    if (existsSync(root + project)) await run('typescript/bin/tsc', '-p', root + project);
  }
}

async function bundleWebApplications() {
  for (const example of examples) {
    const web = `${root}${example}/vite.config.ts`;
    if (existsSync(web)) await run('vite/bin/vite.js', 'build', '--config', web);
  }
}

await Promise.all([embedding, compileProjects(), bundleWebApplications()]);
