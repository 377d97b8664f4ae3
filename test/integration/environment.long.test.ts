import { connect, createServer } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  addressFromEnvironment,
  dataDirectory,
  describeEmbedded,
  forwardFromEnvironment,
  logFromEnvironment,
  openDatabase,
} from '../../packages/tidemark/src/environment.js';
import { SetupError } from '../../packages/tidemark/src/errors.js';
import { explainFailure } from '../../packages/tidemark/src/failure.js';
import { memoryLog } from '../support/log.js';
import { freePort } from '../support/process.js';

const cluster = process.env.TIDEMARK_TEST_CLUSTER!;

const names = [
  'DATABASE_URL',
  'DATABASE_READ_URL',
  'TIDEMARK_DATA',
  'PORT',
  'HOST',
  'LOG_LEVEL',
  'SYNC_MUTATE_URL',
  'SYNC_MUTATE_API_KEY',
] as const;

beforeEach(() => {
  for (const name of names) vi.stubEnv(name, '');
});
afterEach(() => {
  vi.unstubAllEnvs();
});

function set(variables: Partial<Record<(typeof names)[number], string>>): void {
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
}

describe('the environment', () => {
  it('treats an empty variable as unset', () => {
    expect(addressFromEnvironment()).toEqual({ port: 3000 });
    expect(addressFromEnvironment('127.0.0.1')).toEqual({ port: 3000, hostname: '127.0.0.1' });
    expect(forwardFromEnvironment()).toBeUndefined();
    expect(dataDirectory()).toBe('.tidemark');
    expect(() => logFromEnvironment('silent')).not.toThrow();
  });

  it('determines the port and the host', () => {
    set({ PORT: '8080', HOST: '::1' });
    expect(addressFromEnvironment('127.0.0.1')).toEqual({ port: 8080, hostname: '::1' });
  });

  it.each(['-1', '65536', '80a', '3e3', ' 80', '0x50'])('rejects the port %j', (port) => {
    set({ PORT: port });
    expect(() => addressFromEnvironment()).toThrow(SetupError);
  });

  it('rejects an unknown log level', () => {
    set({ LOG_LEVEL: 'loud' });
    expect(() => logFromEnvironment()).toThrow(SetupError);
  });

  it('determines the URL and the key for forwarded pushes', () => {
    set({ SYNC_MUTATE_API_KEY: 'key' });
    expect(forwardFromEnvironment()).toBeUndefined();
    set({ SYNC_MUTATE_URL: 'https://app.example.com/sync/push' });
    expect(forwardFromEnvironment()).toEqual({ url: 'https://app.example.com/sync/push', apiKey: 'key' });
    set({ SYNC_MUTATE_API_KEY: '' });
    expect(forwardFromEnvironment()).toEqual({ url: 'https://app.example.com/sync/push' });
  });

  it.each([
    { SYNC_MUTATE_URL: 'app/push' },
    { SYNC_MUTATE_URL: 'ftp://app.example.com/' },
    { SYNC_MUTATE_URL: 'https://user:secret@app.example.com/' },
    { SYNC_MUTATE_URL: 'https://app.example.com/', SYNC_MUTATE_API_KEY: 'two\nlines' },
  ])('rejects these settings for forwarded pushes, and repeats no secret: %j', (variables) => {
    set(variables);
    expect(() => forwardFromEnvironment()).toThrow(SetupError);
    expect(() => forwardFromEnvironment()).not.toThrow(/secret|lines/);
  });

  it('names the database, and does not repeat an invalid address', async () => {
    set({ DATABASE_URL: cluster });
    expect(await openDatabase()).toMatchObject({ url: cluster, embedded: false });
    set({ DATABASE_URL: 'app:secret@db.example.com/app' });
    await expect(openDatabase()).rejects.toThrow(/^DATABASE_URL is not a connection string/);
    await expect(openDatabase()).rejects.not.toThrow(/secret/);
  });

  it('names the standbys', async () => {
    set({ DATABASE_URL: cluster });
    expect((await openDatabase()).readURLs).toEqual([]);
    set({ DATABASE_READ_URL: ' postgres://one/app,postgresql://two/app postgres://three/app' });
    expect((await openDatabase()).readURLs).toEqual([
      'postgres://one/app',
      'postgresql://two/app',
      'postgres://three/app',
    ]);
    set({ DATABASE_READ_URL: 'postgres://one/app,app:secret@two/app' });
    await expect(openDatabase()).rejects.toThrow(/^DATABASE_READ_URL is not a connection string/);
    await expect(openDatabase()).rejects.not.toThrow(/secret/);
    set({ DATABASE_URL: '', DATABASE_READ_URL: 'postgres://one/app' });
    await expect(openDatabase()).rejects.toThrow('DATABASE_READ_URL names standbys, but DATABASE_URL is not set');
  });
});

describe('openDatabase', () => {
  it('waits while the database is unreachable', async () => {
    const { hostname, port } = new URL(cluster);
    const url = new URL(cluster);
    url.port = String(await freePort());
    set({ DATABASE_URL: url.href });
    const { log, lines } = memoryLog();
    const opening = openDatabase({ log });
    await vi.waitFor(() => expect(lines).not.toEqual([]), { timeout: 10_000 });
    const proxy = createServer((socket) => socket.pipe(connect(Number(port), hostname)).pipe(socket));
    proxy.listen(Number(url.port), '127.0.0.1');
    try {
      expect(await opening).toMatchObject({ url: url.href });
      expect(lines[0]).toMatchObject({
        level: 'warn',
        message: expect.stringMatching(/^Cannot reach the database: .*ECONNREFUSED.*\. Trying again in 1 s\.$/),
      });
    } finally {
      proxy.close();
    }
  });

  it('gives up after the maximum wait', async () => {
    set({ DATABASE_URL: 'postgres://app:secret@127.0.0.1:1/app' });
    const { log, lines } = memoryLog();
    const failure: unknown = await openDatabase({ log, waitMs: 6_000 }).catch((error: unknown) => error);
    expect(explainFailure(failure)).toMatch(/^Cannot reach the database: .*ECONNREFUSED/);
    // One second after the first attempt, and two seconds after the second.
    expect(lines).toHaveLength(2);
    expect(JSON.stringify(lines)).not.toContain('secret');
  });

  it('waits while the name of the host does not resolve', async () => {
    set({ DATABASE_URL: 'postgres://app:secret@database.invalid/app' });
    const { log, lines } = memoryLog();
    const failure: unknown = await openDatabase({ log, waitMs: 12_000 }).catch((error: unknown) => error);
    expect(explainFailure(failure)).toMatch(/^Cannot reach the database: /);
    expect(lines).not.toEqual([]);
  });

  it.each([
    ['a wrong password', '28P01', { password: 'wrong' }],
    ['a database that does not exist', '3D000', { pathname: '/none' }],
  ])('does not wait with %s', async (_, code, change) => {
    set({ DATABASE_URL: Object.assign(new URL(cluster), change).href });
    const { log, lines } = memoryLog();
    await expect(openDatabase({ log, waitMs: 3_000 })).rejects.toMatchObject({ code });
    expect(lines).toEqual([]);
  });
});

describe('an embedded database', () => {
  const database = {
    url: 'postgres://postgres:secret@127.0.0.1:5432/tidemark',
    readURLs: [],
    embedded: true,
    connectionFile: '/data/connection.json',
    lost: new Promise<Error>(() => {}),
    close: async () => {},
  };

  it('is described with its password only for a terminal', () => {
    expect(describeEmbedded(database, true)).toBe(database.url);
    expect(describeEmbedded(database, false)).toBe(
      'postgres://postgres@127.0.0.1:5432/tidemark (the password is in /data/connection.json)',
    );
  });
});

describe('a failure', () => {
  const system = (code: string, message: string, more = {}) => Object.assign(new Error(message), { code, ...more });

  it.each([
    [new SetupError('Do this.'), /^Do this\.$/],
    [system('EADDRINUSE', 'listen EADDRINUSE'), /^listen EADDRINUSE\. Stop the program that uses it/],
    [system('EACCES', 'listen EACCES', { port: 80 }), /PORT to a port above 1023/],
    [system('42501', 'permission denied for schema x'), /^The database role lacks a privilege: permission denied/],
    [system('28P01', 'password authentication failed'), /^Cannot connect to the database: password/],
    [system('3D000', 'database "x" does not exist'), /^Cannot connect to the database: database "x"/],
    [system('ECONNREFUSED', 'connect ECONNREFUSED'), /^Cannot reach the database: connect/],
    [
      Object.assign(new AggregateError([new Error('connect ::1'), new Error('connect 127.0.0.1')]), {
        code: 'ECONNREFUSED',
      }),
      /^Cannot reach the database: connect ::1; connect 127\.0\.0\.1\.$/,
    ],
    [new TypeError('a bug'), /^TypeError: a bug\n {4}at /],
    ['a string', /^Failed: a string$/],
  ])('is explained: %s', (failure, text) => {
    expect(explainFailure(failure)).toMatch(text);
  });
});
