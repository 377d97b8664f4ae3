import { tmpdir } from 'node:os';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ProblemCode } from '../../../packages/tidemark/src/errors.js';
import { bin } from '../../support/built.js';
import { freePort, start } from '../../support/process.js';
import { type CallServer, done, refuse, startCallServer } from './call-server.js';
import { runHere } from './command-line.js';

let server: CallServer;
beforeAll(async () => {
  server = await startCallServer();
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await server.close();
});
beforeEach(() => {
  server.calls.length = 0;
  server.respond = done;
  for (const [name, value] of Object.entries(environment())) vi.stubEnv(name, value);
});

/** The server's address, without a token. */
function environment(): Record<string, string> {
  return { TIDEMARK_URL: server.url, TIDEMARK_TOKEN: '' };
}

/** Runs `tidemark call`. */
function call(args: readonly string[], input?: string | Buffer) {
  return runHere(['call', ...args], input);
}

describe('a call', () => {
  it('is a POST whose answer is printed as one line', async () => {
    const { code, stdout, stderr } = await call(['todo.create', '{"id":"t1"}']);
    expect([code, stdout, stderr]).toEqual([0, '{"ok":true,"result":{"id":"t1"}}\n', '']);
    const [{ method, path, headers, body } = {}] = server.calls;
    expect([method, path, body]).toEqual(['POST', '/api/mutators/todo/create', '{"id":"t1"}']);
    expect(headers).toMatchObject({ 'content-type': 'application/json', 'content-length': '11' });
    for (const name of ['authorization', 'idempotency-key', 'prefer']) expect(headers).not.toHaveProperty(name);
  });

  it('has no body without args', async () => {
    expect(await call(['reset'])).toMatchObject({ code: 0, stdout: '{"ok":true}\n' });
    expect(server.calls[0]).toMatchObject({ path: '/api/mutators/reset', body: '' });
    expect(server.calls[0]!.headers).not.toHaveProperty('content-type');
  });

  it.each([
    '5',
    '-1',
    '-1.50',
    '-2e3',
    'true',
    'null',
    '"a"',
    '"-"',
    '[]',
    '{"a": "--b"}',
    ' 5 ',
    '12345678901234567890',
  ])('sends the args %s exactly as they are', async (args) => {
    const { code, stdout } = await call(['x', args]);
    expect([code, stdout]).toEqual([0, `{"ok":true,"result":${args}}\n`]);
    expect(server.calls[0]!.body).toBe(args);
  });

  it('takes the args at any position, even after a double dash', async () => {
    for (const line of [
      ['--dry-run', 'x', '-1'],
      ['x', '--dry-run', '-1'],
      ['x', '-1', '--dry-run'],
      ['--dry-run', '--', 'x', '-1'],
    ]) {
      expect((await call(line)).code).toBe(0);
      expect(server.calls.pop()).toMatchObject({ body: '-1', headers: { prefer: 'tx=rollback' } });
    }
  });

  it('reads args from standard input', async () => {
    expect(await call(['x', '-'], '{"a":\n "ä€😀"}\n')).toMatchObject({ code: 0 });
    expect(server.calls[0]!.body).toBe('{"a":\n "ä€😀"}\n');
  });

  it('reads a megabyte and prints it', async () => {
    const text = JSON.stringify('x'.repeat(1 << 20));
    expect(await call(['x', '-'], text)).toMatchObject({ code: 0, stdout: `{"ok":true,"result":${text}}\n` });
  });

  it('sends the values of its options as text', async () => {
    await call(['x', '--token', '0123', '--idempotency-key=007', '--dry-run']);
    expect(server.calls[0]!.headers).toMatchObject({
      authorization: 'Bearer 0123',
      'idempotency-key': '007',
      prefer: 'tx=rollback',
    });
  });

  it('takes the token and the address from the environment, unless options set them', async () => {
    vi.stubEnv('TIDEMARK_TOKEN', 'ann');
    await call(['x']);
    expect(server.calls.pop()!.headers.authorization).toBe('Bearer ann');
    vi.stubEnv('TIDEMARK_URL', 'http://127.0.0.1:1');
    await call(['x', '--token', 'ben', '--url', `${server.url}/some/prefix/`]);
    expect(server.calls.pop()).toMatchObject({
      path: '/some/prefix/api/mutators/x',
      headers: { authorization: 'Bearer ben' },
    });
  });

  it('encodes the segments of a name', async () => {
    await call(['a/b.c d.ä?#%2e']);
    expect(server.calls[0]!.path).toBe('/api/mutators/a%2Fb/c%20d/%C3%A4%3F%23%252e');
  });

  it('prints an answer of several lines as one line, with its numbers unchanged', async () => {
    server.respond = (response) => response.end('{\n  "ok": true,\n  "result": 12345678901234567890\n}\n');
    expect((await call(['x'])).stdout).toBe('{ "ok": true, "result": 12345678901234567890 }\n');
  });

  it('works as a process of its own', async () => {
    const { child, ended } = start(bin, ['call', 'x', '-'], { cwd: tmpdir(), env: environment() });
    child.stdin!.end('5');
    expect(await ended).toMatchObject({ code: 0, stdout: '{"ok":true,"result":5}\n', stderr: '' });
    server.respond = refuse('unavailable', 'This is why', {});
    const refused = start(bin, ['call', 'x'], { cwd: tmpdir(), env: environment() });
    expect(await refused.ended).toMatchObject({ code: 3, stdout: '' });
  });

  it('ends without an error when its output is closed', async () => {
    const { child, ended } = start(bin, ['call', 'x', '-'], { cwd: tmpdir(), env: environment() });
    child.stdout!.destroy();
    child.stdin!.end(JSON.stringify('x'.repeat(1 << 20)));
    expect(await ended).toMatchObject({ code: 0, stderr: '' });
  });
});

describe('a call that is refused', () => {
  it.each<[ProblemCode, object, number]>([
    ['malformed-request', {}, 1],
    ['unauthenticated', {}, 1],
    ['forbidden', {}, 1],
    ['unknown-mutator', {}, 1],
    ['mutator-error', { status: 409 }, 1],
    ['idempotency-key-reused', {}, 1],
    ['internal', {}, 1],
    ['idempotency-key-in-flight', {}, 3],
    ['too-many-requests', {}, 3],
    ['unavailable', {}, 3],
    ['mutate-endpoint-timeout', {}, 3],
  ])('with %s %j has exit code %i', async (code, more, exitCode) => {
    server.respond = refuse(code, 'This is why', more);
    const output = await call(['x']);
    expect([output.code, output.stdout]).toEqual([exitCode, '']);
    expect(output.stderr).toMatch(new RegExp(`^This is why \\(\\d{3}, ${code}(, request r1)?\\)\\n$`));
  });

  it('prints a line for each issue', async () => {
    const issues = [
      { path: ['id'], message: 'Too short' },
      { path: ['tags', 0, 'name'], message: 'Expected\u001b[31m string' },
      { message: 'Too much' },
    ];
    server.respond = refuse('invalid-args', 'The args are not valid', { issues });
    const { stderr } = await call(['x', '{}']);
    expect(stderr).toBe(
      'The args are not valid (422, invalid-args)\nid: Too short\ntags.0.name: Expected [31m string\nToo much\n',
    );
  });

  it('prints the details that the mutator adds', async () => {
    server.respond = refuse('mutator-error', 'The list is full', { details: { most: 100 } });
    expect((await call(['x'])).stderr).toMatch(/\ndetails: {"most":100}\n$/);
  });

  it('reports a response that does not come from a mutator', async () => {
    server.respond = (response) => response.writeHead(404, { 'Content-Type': 'text/html' }).end('<h1>Not here</h1>');
    expect(await call(['x'])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/status 404 and gave no reason/),
    });
    server.respond = (response) => response.end('<h1>Welcome</h1>');
    const { code, stdout, stderr } = await call(['x']);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toBe(`${server.url}/api/mutators/x did not answer like a mutator.\n`);
  });

  it('does not follow a redirect', async () => {
    server.respond = (response) => response.writeHead(302, { Location: '/other' }).end();
    expect(await call(['x'])).toMatchObject({ code: 1, stderr: expect.stringMatching(/status 302/) });
    expect(server.calls).toHaveLength(1);
  });
});

describe('a server that does not answer', () => {
  it('is reported if it cannot be reached', async () => {
    const url = `http://127.0.0.1:${await freePort()}`;
    const { code, stdout, stderr } = await call(['x', '--url', url]);
    expect([code, stdout]).toEqual([3, '']);
    expect(stderr).toMatch(/^Cannot reach http:\/\/127\.0\.0\.1:\d+: .*ECONNREFUSED.*\.\n$/);
  });

  it('is reported if it closes the connection', async () => {
    server.respond = (response) => response.destroy();
    expect(await call(['x'])).toMatchObject({ code: 3, stderr: expect.stringMatching(/^Cannot reach .+: .+\.\n$/) });
  });

  it.each(['before', 'within'])('is given up after the timeout, %s its response', async (when) => {
    server.respond = (response) => void (when === 'within' && response.writeHead(200).write('{"ok":'));
    const { code, stdout, stderr } = await call(['x', '--timeout', '0.3']);
    expect([code, stdout]).toEqual([3, '']);
    expect(stderr).toBe(`No answer from ${server.url} within 0.3 s; the call may still have been applied.\n`);
  });
});

describe('the command line of a call', () => {
  it.each([
    [[], /Missing required argument 'name'/],
    [['todo..create', '1'], /name must look like todo\.create/],
    [[''], /name must look like todo\.create/],
    [['x', '{"secret":'], /^The args are not JSON\./],
    [['x', ''], /The args are not JSON/],
    [['x', '-1secret'], /begins with - but is not an option/],
    [['x', '1', 'secret'], /Too many arguments for 'call'\. Expected 2/],
    [['x', '--nonsense=secret'], /Unknown option --nonsense\./],
    [['x', '--token'], /'--token <token>' argument missing/],
    [['x', '--token', ''], /--token cannot be sent/],
    [['x', '--token', 'secret\n'.repeat(2)], /--token cannot be sent/],
    [['x', '--idempotency-key', 'ä'], /--idempotency-key cannot be sent/],
    [['x', '--timeout', 'soon'], /--timeout must be more than 0 and at most 300 seconds/],
    [['x', '--timeout', '0'], /--timeout must be more than 0 and at most 300 seconds/],
    [['x', '--url', 'ftp://secret'], /must look like https:/],
    [['x', '--url', 'http://u:secret@h'], /must not contain a user name or password/],
    [['x', '--url', 'http://h/?secret'], /must not have a query or fragment/],
  ])('that is %j ends with exit code 2, and nothing is sent', async (args, message) => {
    const { code, stdout, stderr } = await call(args);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(message);
    expect(stderr).toMatch(/See tidemark --help\.\n$/);
    expect(stderr).not.toMatch(/secret/);
    expect(server.calls).toEqual([]);
  });

  it('ends with exit code 2 if standard input is not JSON or not UTF-8', async () => {
    expect(await call(['x', '-'], '')).toMatchObject({ code: 2, stderr: expect.stringMatching(/not JSON/) });
    const latin1 = Buffer.from('"\u00e4"', 'latin1');
    expect(await call(['x', '-'], latin1)).toMatchObject({ code: 2, stderr: expect.stringMatching(/UTF-8/) });
    expect(server.calls).toEqual([]);
  });

  it('ends with exit code 2 if options precede the command', async () => {
    const { code, stderr } = await runHere(['--token', 'ann', 'call', 'x']);
    expect([code, stderr]).toEqual([2, 'Unknown option --token. See tidemark --help.\n']);
  });

  it('prints the help if it asks for it, and nothing is sent', async () => {
    for (const args of [['--help'], ['x', '-1', '-h']]) {
      const { code, stdout } = await call(args);
      expect(code).toBe(0);
      expect(stdout).toMatch(/--idempotency-key <key>[\s\S]*Exit codes[\s\S]*3 {2}call, pull: the server/);
    }
    expect(server.calls).toEqual([]);
  });
});
