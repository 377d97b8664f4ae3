// Embeds files that the compiled package would read into modules, because bundlers include modules and not files that
// are merely read. Each module written here replaces a compiled one that reads the same from the repository.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, constants } from 'node:zlib';
import { rolldown } from 'rolldown';
import licenses from 'spdx-license-list/full.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const server = `${root}packages/tidemark/`;
const text = (file) => readFileSync(file, 'utf8');

/** Writes the modules into the folder of the compiled package. */
export async function embed(target) {
  embedMigrations(`${target}/schema/migration-files.js`);
  await Promise.all([embedAssets(`${target}/endpoints`), embedParser(`${target}/view/parse/parser.js`)]);
}

function embedMigrations(target) {
  const files = readdirSync(`${server}sql`).map((file) => [file, text(`${server}sql/${file}`)]);
  writeFileSync(target, `export const migrationFiles = ${JSON.stringify(Object.fromEntries(files), null, 2)};\n`);
}

/** The best quality, 11, would take twice as long for 2 % fewer bytes. */
const compression = { params: { [constants.BROTLI_PARAM_QUALITY]: 10 } };

/** Without quotes and words, because bundler plugins replace `process.env.…` and the like wherever they occur. */
const packed = async (bytes) => (await promisify(brotliCompress)(bytes, compression)).toString('base64');
const unpack = `import { brotliDecompressSync } from 'node:zlib';
const unpacked = (packed) => brotliDecompressSync(Buffer.from(packed, 'base64'));
`;

/** Writes a module for each file of the documentation page. It is loaded at the first request. */
async function embedAssets(target) {
  mkdirSync(`${target}/docs-files`, { recursive: true });
  const files = readdirSync(`${server}assets`);
  const nameOf = (file) => file.replaceAll('.', '-');
  await Promise.all(
    files.map(async (file) => {
      const content = await packed(text(`${server}assets/${file}`));
      writeFileSync(`${target}/docs-files/${nameOf(file)}.js`, `export default '${content}';\n`);
    }),
  );
  const imports = files.map((file) => `  ${JSON.stringify(file)}: () => import('./docs-files/${nameOf(file)}.js'),\n`);
  writeFileSync(
    `${target}/docs-files.js`,
    `${unpack}const files = {\n${imports.join('')}};
export const readDocsFile = async (name) => unpacked((await files[name]()).default).toString();\n`,
  );
  writeFileSync(`${target}/docs-files/LICENSE.txt`, text(`${server}assets/swagger-ui-bundle.js.LICENSE.txt`));
}

/** The host detection of the library's loader. With the WebAssembly embedded, the loader does not need it. */
const loader = [
  [/ENVIRONMENT_IS_NODE=globalThis\.process\?\.[^;]*;/, 'ENVIRONMENT_IS_NODE=false;'],
  ['ENVIRONMENT_IS_WEB=!!globalThis.window;', 'ENVIRONMENT_IS_WEB=false;'],
  ['ENVIRONMENT_IS_WORKER=!!globalThis.WorkerGlobalScope;', 'ENVIRONMENT_IS_WORKER=false;'],
];
const start = [['PgQueryModule()', 'PgQueryModule({ instantiateWasm })']];
const instantiate = `
export function instantiateWasm(imports, done) {
  WebAssembly.instantiate(unpacked(packed), imports).then(({ instance }) => done(instance));
}`;

/** The contents of the library's WebAssembly, which its package does not list. */
const noticeOfTheParser = `It contains libpg_query:

${licenses['BSD-3-Clause'].licenseText.replace('<year> <owner>', '2015 Lukas Fittl').trim()}

and parts of PostgreSQL:

${licenses.PostgreSQL.licenseText.trim()}
`;

function replaced(code, replacements) {
  return replacements.reduce((before, [from, to]) => {
    const after = before.replace(from, to);
    if (after === before) throw new Error(`libpg-query has changed: it does not contain ${from}`);
    return after;
  }, code);
}

async function embedParser(target) {
  const folder = `${root}node_modules/libpg-query`;
  const wasm = await packed(readFileSync(`${folder}/wasm/libpg-query.wasm`));
  const bundle = await rolldown({
    input: 'virtual:parser',
    platform: 'neutral',
    external: /^node:/,
    plugins: [
      {
        name: 'parser',
        resolveId: (id) => (id.startsWith('virtual:') ? id : null),
        load(id) {
          const library = `${folder}/wasm/index.js`;
          if (id === 'virtual:parser') return `export { loadModule, parseSync } from ${JSON.stringify(library)};`;
          if (id !== 'virtual:wasm') return null;
          return `${unpack}const packed = '${wasm}';\n${instantiate}`;
        },
        transform(code, id) {
          if (id.endsWith('wasm/libpg-query.js')) return replaced(code, loader);
          if (!id.endsWith('wasm/index.js')) return null;
          return `import { instantiateWasm } from 'virtual:wasm';\n${replaced(code, start)}`;
        },
      },
    ],
  });
  const { output } = await bundle.generate({ format: 'esm', minify: true });
  await bundle.close();
  const [{ code, imports }, ...others] = output;
  const unknown = imports.filter((name) => name !== 'node:zlib');
  if (others.length > 0 || unknown.length > 0) throw new Error(`The parser is not one file: ${unknown.join(', ')}`);
  const { version, license } = JSON.parse(text(`${folder}/package.json`));
  writeFileSync(target, `/*! libpg-query ${version} (${license}), bundled: see parser.js.LICENSE.txt */\n${code}`);
  writeFileSync(`${target}.LICENSE.txt`, `${text(`${folder}/LICENSE`).trim()}\n\n${noticeOfTheParser}`);
}
