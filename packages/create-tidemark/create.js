#!/usr/bin/env node
// Copies the template into an empty folder.
import { cpSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const help = `Makes a local-first web application with Tidemark: a client, a server, its database and a test.

  npm create tidemark@latest [folder]

  folder     where to put it: a new or an empty folder, . for this one (default: tidemark-app)
  --help     shows this
  --version  shows the version, which is also that of Tidemark in the application
`;

/** A mistake that the caller can fix, with the way to fix it. */
class Mistake extends Error {}

try {
  console.log(answer(process.argv.slice(2)));
} catch (error) {
  if (!(error instanceof Mistake)) throw error;
  console.error(error.message);
  process.exitCode = 2;
}

/** @param {string[]} args */
function answer(args) {
  const { folder, options } = parse(args);
  if (options.help) return help;
  if (options.version) return version();
  create(resolve(folder));
  return `\nMade an application in ${resolve(folder)}. Now:\n\n${nextSteps(folder)}\n`;
}

/** @param {string[]} args */
function parse(args) {
  try {
    const options = /** @type {const} */ ({ help: { type: 'boolean' }, version: { type: 'boolean' } });
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
    const [folder = 'tidemark-app', ...others] = positionals;
    if (others.length === 0) return { folder, options: values };
  } catch (error) {
    throw new Mistake(`${error instanceof Error ? error.message : error}\n\n${help}`);
  }
  throw new Mistake(`There can be one folder only. If its name has spaces, put it in quotes: "${args.join(' ')}"`);
}

/** @param {string} folder */
function create(folder) {
  if (!isEmpty(folder)) {
    const todo = `Name a new folder (npm create tidemark@latest my-app), or empty this one`;
    throw new Mistake(`There are files in ${folder} already. ${todo}; nothing was changed.`);
  }
  cpSync(ours('template'), folder, { recursive: true });
  // npm does not publish a .gitignore.
  renameSync(join(folder, '_gitignore'), join(folder, '.gitignore'));
  const template = readJSON(join(folder, 'package.json'));
  const manifest = { ...template, name: packageName(basename(folder)), dependencies: pinned(template.dependencies) };
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
}

/**
 * The dependencies of the template, with Tidemark's packages, which it names with `*`, in this package's version.
 *
 * @param {Record<string, string>} dependencies
 */
function pinned(dependencies) {
  return Object.fromEntries(
    Object.entries(dependencies).map(([name, wanted]) => [name, wanted === '*' ? version() : wanted]),
  );
}

/** The version of this package, which is that of all of Tidemark's packages. */
function version() {
  return readJSON(ours('package.json')).version;
}

/**
 * True if the folder, which is created if necessary, contains nothing but a repository.
 *
 * @param {string} folder
 */
function isEmpty(folder) {
  try {
    mkdirSync(folder, { recursive: true });
    return readdirSync(folder).every((name) => name === '.git');
  } catch (error) {
    throw new Mistake(`${error instanceof Error ? error.message : error}. Name another folder.`);
  }
}

/**
 * The folder's name, adapted to npm's rules.
 *
 * @param {string} folder
 */
function packageName(folder) {
  const name = folder
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9._~-]+/g, '-')
    .replace(/^[-._]+|-+$/g, '');
  return name || 'tidemark-app';
}

/** @param {string} folder as the user wrote it */
function nextSteps(folder) {
  const manager = process.env.npm_config_user_agent?.split('/')[0] ?? 'npm';
  const enter = resolve(folder) === process.cwd() ? [] : [`cd ${/^[\w./~-]+$/.test(folder) ? folder : `"${folder}"`}`];
  return [...enter, `${manager} install`, `${manager} run dev`].map((line) => `  ${line}\n`).join('');
}

/** @param {string} path */
function readJSON(path) {
  return JSON.parse(readFileSync(path, 'utf8'));
}

/** @param {string} path in this package */
function ours(path) {
  return fileURLToPath(new URL(path, import.meta.url));
}
