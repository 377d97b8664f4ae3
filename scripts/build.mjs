// Compiles the package, embeds the files that it would read, and bundles its client's engine. Then compiles the
// examples, which import the package by its public name, bundles their web applications, and checks the types of the
// template of `npm create tidemark`.
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { bundleEngine } from './bundle-engine.mjs';
import { embed } from './embed.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const run = (program, ...args) =>
  execFileSync(process.execPath, [`${root}node_modules/${program}`, ...args], { stdio: 'inherit' });

const swagger = `${root}node_modules/swagger-ui-dist`;
const assets = `${root}assets`;
for (const file of ['swagger-ui.css', 'swagger-ui-bundle.js']) copyFileSync(`${swagger}/${file}`, `${assets}/${file}`);
// Both are under this package's licence, which is published with them, as are their notice and those of bundled code.
const [notice, bundled] = ['NOTICE', 'swagger-ui-bundle.js.LICENSE.txt'].map((file) =>
  readFileSync(`${swagger}/${file}`, 'utf8').trim(),
);
writeFileSync(
  `${assets}/swagger-ui-bundle.js.LICENSE.txt`,
  `${notice}\nLicensed under the Apache License, Version 2.0: https://www.apache.org/licenses/LICENSE-2.0\n\nIt contains:\n\n${bundled}\n`,
);

rmSync(`${root}dist`, { recursive: true, force: true });
await bundleEngine(`${root}dist/client`);
run('typescript/bin/tsc', '-p', `${root}tsconfig.json`);
await embed(`${root}dist`);
const examples = ['tasks', 'tanstack'].map((name) => `examples/${name}`);
const projects = [
  ...examples.flatMap((example) => [example, `${example}/web`]),
  'create-tidemark',
  'create-tidemark/template',
];
for (const project of projects.map((folder) => `${folder}/tsconfig.json`)) {
  if (existsSync(root + project)) run('typescript/bin/tsc', '-p', root + project);
}
for (const example of examples) {
  const web = `${root}${example}/vite.config.ts`;
  if (existsSync(web)) run('vite/bin/vite.js', 'build', '--config', web);
}
