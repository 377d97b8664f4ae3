// Bundles the client's sync engine: parts of a pinned npm package that the package does not export, so the build
// imports their files. Writes the bundle, its types, and the licences of everything in it.
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const root = fileURLToPath(new URL('..', import.meta.url));
const source = '@rocicorp/zero';
const sources = `${root}node_modules/${source}/out`;
const folder = `${sources}/replicache/src`;
const entry = 'virtual:engine';

/** The parts of the engine that the client uses, by the files that export them. */
const parts = {
  'replicache-impl.js': ['ReplicacheImpl'],
  'dag/lazy-store.js': ['LazyStore'],
  'dag/store-impl.js': ['StoreImpl'],
  'db/commit.js': ['baseSnapshotFromCommit', 'commitFromHash', 'commitFromHead'],
  'db/index.js': ['indexKey', 'indexPrefix'],
  'frozen-json.js': ['deepFreeze'],
  'hash.js': ['assertHash', 'emptyHash', 'newRandomHash'],
  'kv/mem-store.js': ['MemStore', 'dropMemStore'],
  'log-options.js': ['createLogContext'],
  'persist/client-groups.js': ['clientGroupHasPendingMutations', 'getClientGroups', 'setClientGroup'],
  'persist/idb-databases-store.js': ['IDBDatabasesStore'],
  'sync/diff.js': ['diffCommits'],
  'sync/pull.js': ['beginPullV1'],
  'sync/push.js': ['push'],
  'sync/request-id.js': ['newRequestID'],
  'with-transactions.js': ['withRead', 'withWrite'],
};

/** The files that replace those of the package, by the ends of their paths. */
const replacements = {
  '/replicache/src/call-default-fetch.js': 'call-default-fetch.js',
  '/replicache/src/db/index.js': 'index.js',
  '/replicache/src/get-kv-store-provider.js': 'get-kv-store-provider.js',
  '/replicache/src/log-options.js': 'log-options.js',
  '/replicache/src/scan-iterator.js': 'scan-iterator.js',
  '/shared/src/browser-env.js': 'browser-env.js',
  '/shared/src/json-schema.js': 'valita.js',
  '/shared/src/sleep.js': 'sleep.js',
  '/shared/src/valita.js': 'valita.js',
};

/** Returns our replacement for a file of the package; undefined if the package's own is bundled. */
function replacementOf(file) {
  const end = Object.keys(replacements).find((name) => file.endsWith(`/out${name}`));
  return end && readFileSync(`${root}scripts/engine/${replacements[end]}`, 'utf8');
}

const apache = 'https://www.apache.org/licenses/LICENSE-2.0';

/** Returns the folder of the npm package that a file belongs to. */
function packageOf(file) {
  return /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0];
}

/** Returns the notice for a package in the bundle. Throws if its licence is not a known one. */
function noticeOf(path) {
  const { name, version, license } = JSON.parse(readFileSync(`${path}/package.json`, 'utf8'));
  const texts = readdirSync(path)
    .filter((file) => /^(licen[cs]e|notice)/i.test(file))
    .map((file) => readFileSync(`${path}/${file}`, 'utf8').trim());
  const heading = `${name} ${version} (${license})`;
  if (license === 'Apache-2.0') {
    const notices = texts.filter((text) => !text.includes('TERMS AND CONDITIONS FOR USE, REPRODUCTION'));
    return [heading, `Licensed under the Apache License, Version 2.0: ${apache}`, ...notices].join('\n');
  }
  if (license === 'MIT' && texts.length > 0) return [heading, ...texts].join('\n');
  throw new Error(`${heading} is in the bundle of the engine, and what its licence asks for is not known`);
}

/** True if a statement only logs below the level `info`: `log.info?.(…)`, or `if (log.debug) …`. */
function onlyLogs({ type, expression, test }) {
  const condition = type === 'IfStatement' ? test : type === 'ExpressionStatement' && expression.expression?.callee;
  return condition?.type === 'MemberExpression' && /^(debug|info)$/.test(condition.property.name);
}

/** True for a call of `assert` with a message. */
function hasMessage({ type, callee, arguments: args }) {
  return type === 'CallExpression' && callee.name === 'assert' && args.length === 2;
}

/** Removes logging at levels that the client does not use, and the messages of assertions, which stack traces tell apart. */
function withoutTexts(code, ast) {
  const spans = [];
  const visit = (node) => {
    if (Array.isArray(node)) return node.forEach(visit);
    if (typeof node?.type !== 'string') return;
    if (onlyLogs(node) && !node.alternate) return spans.push({ ...node, instead: ';' });
    if (hasMessage(node)) spans.push({ start: node.arguments[0].end, end: node.arguments[1].end, instead: '' });
    Object.values(node).forEach(visit);
  };
  visit(ast.body);
  return spans.reduceRight((text, { start, end, instead }) => text.slice(0, start) + instead + text.slice(end), code);
}

/** Parts of the package's files to replace, by the ends of the files' paths. */
const changes = {
  // Counts all chunks that thousands of pending mutations refer to in one pass.
  '/dag/gc.js': [
    ['import { emptyHash }', `import { nextTurn } from '${root}scripts/engine/next-turn.js';\nimport { emptyHash }`],
    ['const refs = await', 'await nextTurn(this.#delegate.kvWrite);\n\t\tconst refs = await'],
  ],
  // The messages are removed.
  '/shared/src/asserts.js': [['typeof msg === "string" ? msg : msg()', '"An assertion of the engine failed"']],
  // Awaits a chunk and its references together. If both reads failed, nothing could catch the second error.
  '/dag/store-impl.js': [
    ['const data = await dataPromise;', 'refsPromise.catch(() => {});\n\t\tconst data = await dataPromise;'],
  ],
  // If the user's clock were set back by an hour, requests would wait for an hour.
  '/connection-loop.js': [['Date.now()', 'performance.now()']],
  // A message from another tab: nothing could catch that the database cannot be read.
  '/new-client-channel.js': [
    [
      'getClientGroup(newClientGroupID, perdagRead) !== void 0)',
      'getClientGroup(newClientGroupID, perdagRead) !== void 0).catch(() => false)',
    ],
  ],
  // A first read: nothing could catch that the data cannot be read. A read after a pull: the pull would seem to fail.
  '/subscriptions.js': [
    [
      's.updateDeps(stx.keys, stx.scans);\n\t\t\t}\n\t\t})));',
      's.updateDeps(stx.keys, stx.scans); } }))).catch((reason) => subs.map(() => ({ status: "rejected", reason })));',
    ],
    ['this.#callback = callback;', 'this.#callback = callback; this.onError = options.onError;'],
  ],
  '/replicache-impl.js': [
    // The default is in scripts/engine/log-options.js.
    ['logSinks = [consoleLogSink]', 'logSinks'],
    // Hooks that only the package's own client sets.
    ['this.#zero = implOptions.zero;', ''],
    ['#zero;', ''],
    ['this.#zero', 'undefined'],
    // The database may fail at the start: nothing could catch that, and all callers would wait forever.
    ['this.#open(indexes', 'this.opening(() => this.#open(indexes'],
    ['readyResolver.resolve, onClientsDeleted);', 'readyResolver.resolve, onClientsDeleted));'],
    // A client that is closed during its start would wait for its own end.
    ['await closingInstances.get(this.name);', 'if (!this.#closed) await closingInstances.get(this.name);'],
    // The page becomes visible again: nothing could catch that the database cannot be read.
    [
      'await this.#checkForClientStateNotFoundAndCallHandler();\n\t};',
      'await this.#checkForClientStateNotFoundAndCallHandler().catch(() => {});\n\t};',
    ],
  ],
};

function withChanges(code, file) {
  const [, parts] = Object.entries(changes).find(([end]) => file.endsWith(end)) ?? [null, []];
  return parts.reduce((text, [from, to]) => {
    if (!text.includes(from)) throw new Error(`${file} no longer has the text that is to be changed: ${from}`);
    return text.replaceAll(from, to);
  }, code);
}

/** Writes the bundle into a folder. */
export async function bundleEngine(target) {
  const bundle = await rolldown({
    input: entry,
    platform: 'browser',
    treeshake: { moduleSideEffects: false, propertyReadSideEffects: false, manualPureFunctions: ['valita_exports'] },
    transform: { target: 'es2022', define: { 'process.env.NODE_ENV': '"production"' } },
    plugins: [
      {
        name: 'engine',
        resolveId: (id) => (id === entry ? id : null),
        load: (id) =>
          id === entry
            ? Object.entries(parts)
                .map(([file, names]) => `export { ${names.join(', ')} } from '${folder}/${file}';`)
                .concat(`export { nextTurn } from '${root}scripts/engine/next-turn.js';`)
                .join('\n')
            : (replacementOf(id) ?? null),
        transform(code, id) {
          return id.startsWith(sources) ? withChanges(withoutTexts(code, this.parse(code)), id) : null;
        },
      },
    ],
  });
  const { output } = await bundle.generate({ format: 'esm', minify: true });
  await bundle.close();
  const [{ code, modules, imports }, ...others] = output;
  if (others.length > 0 || imports.length > 0) throw new Error(`The engine is not one file: ${imports.join(', ')}`);
  const used = Object.keys(modules).filter((file) => modules[file].renderedLength > 0 && packageOf(file));
  const notices = [...new Set(used.map(packageOf))].sort().map(noticeOf);
  mkdirSync(target, { recursive: true });
  const head = '/*! Contains other works, bundled and minified: see engine.js.LICENSE.txt */';
  writeFileSync(`${target}/engine.js`, `${head}\n${code}`);
  writeFileSync(
    `${target}/engine.js.LICENSE.txt`,
    `engine.js was bundled and minified from files of these npm packages. It leaves out what is not used, what is only\nlogged for debugging, and the messages of assertions.\n\n${notices.join('\n\n')}\n`,
  );
  const types = `${root}packages/client/src/engine.d.ts`;
  if (existsSync(types)) copyFileSync(types, `${target}/engine.d.ts`);
}
