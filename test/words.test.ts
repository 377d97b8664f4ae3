/** Comments and documents use the words of the field, in plain English: see CONTRIBUTING.md. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { root } from './support/built.js';

/** Words that Tidemark does not use, and what it says instead. */
const words: readonly (readonly [word: RegExp, instead: string])[] = [
  [/\bseat(s|ed)?\b/i, 'cohort'],
  [/\boutlooks?\b/i, 'subscription'],
  [/\bonlooker\b/i, 'cache lookup'],
  [/\bnudge[sd]?\b/i, 'wake'],
  [/\bturnover\b/i, 'view set change'],
  [/\btwins?\b/i, 'common subexpression'],
  [/\blayouts?\b/i, 'row format'],
  [/\bjournal\b/i, 'audit log'],
  [/\bgates?\b/i, 'semaphore'],
  [/\b(the|a|each|every|one|last|next|own) looks?\b/i, 'poll'],
  [/\bgo(es)? on\b/i, 'continue'],
  [/\bfor good\b/i, 'permanently'],
  [/\bin vain\b/i, 'unnecessarily'],
  [/\banew\b/i, 'again'],
  [/\bdearer\b/i, 'more expensive'],
  [/\bwhoever\b/i, 'the client, the caller'],
  [/\b(as )?of then\b/i, 'previous, at the snapshot'],
  [/\ball the same\b/i, 'nevertheless'],
  [/\bmend(s|ed)?\b/i, 'fix'],
  [/\bso many\b/i, 'this many'],
  [/\bis told of\b/i, 'receives'],
];

/** A doc comment names the thing, or says what a function does. */
const openings = /^\/\*\*\s+(What|Whether|Those|How many|How much|That) /;

const filesIn = (folders: readonly string[], pattern: RegExp) =>
  folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => pattern.test(file) && !/(^|\/)(node_modules|dist|golden)\//.test(file))
      .map((file) => join(folder, file)),
  );

const commentLine = /^\s*(\/\/|\/?\*|--)/;

/** Returns the lines of a file that use such a word, with what to write instead. */
function findingsIn(file: string, isProse: (line: string) => boolean): string[] {
  return readFileSync(join(root, file), 'utf8')
    .split('\n')
    .flatMap((line, i) => {
      if (!isProse(line)) return [];
      const text = line.replace(/`[^`]*`|\]\([^)]*\)/g, '');
      const found = words.filter(([word]) => word.test(text)).map(([, instead]) => `write: ${instead}`);
      if (openings.test(line.trim())) found.push('name the thing, or begin with a verb');
      return found.map((advice) => `${file}:${i + 1}: ${advice}`);
    });
}

it('comments use the words of the field', () => {
  const files = filesIn(['packages', 'test', 'bench', 'scripts', 'site'], /\.(ts|tsx|mjs|sql)$/);
  const own = join('test', 'words.test.ts');
  const findings = files
    .filter((file) => file !== own)
    .flatMap((file) => findingsIn(file, (line) => commentLine.test(line)));
  expect(findings).toEqual([]);
});

it('documents use the words of the field', () => {
  let isCode = false;
  const isProse = (line: string) => {
    if (line.startsWith('```')) isCode = !isCode;
    // The home page's frontmatter.
    return !isCode && line !== 'layout: home';
  };
  const files = [
    ...filesIn(['docs', 'internals', 'packages'], /\.md$/),
    'README.md',
    'ARCHITECTURE.md',
    'CONTRIBUTING.md',
    'SECURITY.md',
  ];
  expect(files.flatMap((file) => findingsIn(file, isProse))).toEqual([]);
});
