import { execFile } from 'node:child_process';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../..', import.meta.url));
/** Ignored by Git, and below the packages that the client imports. */
const folder = join(root, '.tidemark/typed-client');
const compilerOptions = {
  noEmit: true,
  strict: true,
  target: 'es2022',
  module: 'nodenext',
  skipLibCheck: true,
  types: ['node'],
};

beforeAll(async () => {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'package.json'), '{"type": "module"}');
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
  await run('test/node_modules/openapi-typescript/bin/cli.js', [
    join(root, 'test/golden/openapi.json'),
    '-o',
    join(folder, 'api.d.ts'),
  ]);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const source = () => readFile(join(root, 'test/typed-client/client.ts'), 'utf8');

it('the generated types accept correct calls, and reject calls with errors', async () => {
  expect(await compile(await source())).toEqual([]);
});

it('the compiler rejects the lines that are marked as wrong, and no others', async () => {
  const text = await source();
  const marked = text.split('\n').flatMap((line, index) => (line.includes('@ts-expect-error') ? [index + 2] : []));
  expect(marked.length).toBeGreaterThan(10);
  const lines = await compile(text.replaceAll('@ts-expect-error', ''));
  expect([...new Set(lines)]).toEqual(marked);
});

/** The numbers of the lines that the compiler rejects. */
async function compile(text: string): Promise<number[]> {
  await writeFile(join(folder, 'client.ts'), text);
  const output = await run('node_modules/typescript/bin/tsc', ['-p', folder]).catch((error: { stdout?: string }) => {
    // The compiler exits with 2 if it has found errors.
    if (!error.stdout) throw error;
    return error.stdout;
  });
  return output
    .split('\n')
    .filter((line) => line.includes('error TS'))
    .map((line) => Number(/^client\.ts\((\d+),/.exec(line)?.[1] ?? Number.NaN));
}

async function run(program: string, args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [join(root, program), ...args], { cwd: folder });
  return stdout;
}
