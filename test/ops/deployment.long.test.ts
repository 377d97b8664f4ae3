/**
 * What runs servers: the Dockerfile, the file for Compose, the unit of systemd, and the manifests in
 * docs/deployment.md. This is what can be told of them without an engine for containers.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { validate } from 'dockerfile-utils';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { closeMs, defaultDrainDelayMs, defaultDrainMs } from '../../packages/tidemark/src/serving.js';
import { endMs } from '../../packages/tidemark/src/workers/primary.js';
import { blocksOf } from '../docs/compile.js';
import { runHere } from '../integration/cli/command-line.js';
import { startServer } from '../integration/conformance/server.js';

const pathOf = (name: string) => fileURLToPath(new URL(`../../packages/tidemark/ops/${name}`, import.meta.url));
const read = (name: string) => readFileSync(pathOf(name), 'utf8');

/** The maximum time that a server of one process takes to stop. */
const singleStopSeconds = (defaultDrainDelayMs + defaultDrainMs + closeMs) / 1_000;
/** The maximum time that a server with workers takes. */
const stopSeconds = (defaultDrainDelayMs + endMs) / 1_000;

it.each([
  ['docs/operations/starting-and-stopping.md', `takes at most ${singleStopSeconds} seconds to stop`],
  ['docs/operations/starting-and-stopping.md', `it takes at most ${stopSeconds}:`],
  ['docs/deployment.md', `${singleStopSeconds} at most](operations/starting-and-stopping.md#stopping)`],
  ['docs/deployment.md', `and ${stopSeconds} with workers`],
  ['packages/tidemark/ops/compose.yml', `takes at most ${singleStopSeconds} seconds to stop`],
  ['packages/tidemark/ops/tidemark.service', `takes at most ${stopSeconds} seconds to stop`],
])('%s says: %s', (file, text) => {
  const page = readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
  expect(page.replaceAll(/\s+/g, ' ')).toContain(text);
});

/** Expects an existing command of the command line, with options that it has. */
async function expectCommand([program, command, ...more]: readonly string[]): Promise<void> {
  const { bin } = JSON.parse(read('../package.json')) as { bin: object };
  expect(Object.keys(bin).map((name) => `node_modules/.bin/${name}`)).toContain(program);
  const { code, stdout } = await runHere([command!, '--help']);
  expect(code).toBe(0);
  expect(stdout).toContain(command!);
  for (const option of more.filter((one) => one.startsWith('-'))) expect(stdout).toContain(`${option} <`);
}

describe('the Dockerfile', () => {
  const instructions = read('Dockerfile')
    .split('\n')
    .filter((line) => /^[A-Z]/.test(line));
  const argumentsOf = (name: string) =>
    instructions.filter((line) => line.startsWith(`${name} `)).map((line) => line.slice(name.length + 1));
  const healthcheck = JSON.parse(argumentsOf('HEALTHCHECK')[0]!.replace(/^.* CMD /, '')) as [string, ...string[]];

  it('is valid', () => {
    expect(validate(read('Dockerfile')).map(({ message }) => message)).toEqual([]);
  });

  it('copies only files that exist', () => {
    const stages = argumentsOf('FROM').map((stage) => stage.split(' AS ')[1]);
    const workdir = argumentsOf('WORKDIR')[0];
    const sources = argumentsOf('COPY').map((copy) => copy.split(' ').slice(0, -1));
    expect(sources).toEqual([
      // Every application has these.
      ['package.json', 'package-lock.json'],
      [`--from=${stages[0]}`, `${workdir}/node_modules`],
      ['.'],
    ]);
  });

  it('runs the server as an unprivileged user', async () => {
    await expectCommand(JSON.parse(argumentsOf('CMD')[0]!));
    expect(argumentsOf('USER')).toEqual(['node']);
  });

  it('reports a server as healthy until it has ended', async () => {
    const server = await startServer();
    const [program, ...args] = healthcheck;
    const check = async () => {
      const { port } = new URL(server.url);
      const [code] = await once(spawn(program, args, { env: { ...process.env, PORT: port } }), 'exit');
      return code;
    };
    try {
      expect(await check()).toBe(0);
    } finally {
      await server.close();
    }
    expect(await check()).toBe(1);
  });
});

describe('the file for Compose', () => {
  interface Service {
    readonly build?: { readonly dockerfile: string };
    readonly command?: readonly string[];
    readonly depends_on?: Record<string, { readonly condition: string }>;
    readonly stop_grace_period?: string;
    readonly environment: Record<string, string>;
    readonly volumes?: readonly string[];
  }
  const { services, volumes } = parse(read('compose.yml'), { merge: true }) as {
    services: Record<'postgres' | 'migrate' | 'server', Service>;
    volumes: object;
  };
  const { postgres, migrate, server } = services;

  it('builds from the Dockerfile of the package', () => {
    for (const { build } of [migrate, server]) {
      expect(existsSync(pathOf(build!.dockerfile.replace('node_modules/tidemark/ops/', '')))).toBe(true);
    }
    expect(Object.keys(volumes)).toEqual(postgres.volumes?.map((volume) => volume.split(':')[0]));
  });

  it('waits for Postgres, migrates, and then serves', async () => {
    await expectCommand(migrate.command!);
    expect(server.command).toBeUndefined();
    expect(migrate.depends_on).toEqual({ postgres: { condition: 'service_healthy' } });
    expect(server.depends_on).toMatchObject({ migrate: { condition: 'service_completed_successfully' } });
  });

  it('gives the server enough time to stop', () => {
    expect(Number.parseInt(server.stop_grace_period!, 10)).toBeGreaterThan(stopSeconds);
  });

  it('connects the server to the Postgres that it runs', () => {
    const { username, password, hostname, pathname } = new URL(server.environment.DATABASE_URL!);
    expect([hostname, username, pathname]).toEqual(['postgres', postgres.environment.POSTGRES_USER, '/app']);
    expect(decodeURIComponent(password)).toBe(`\${POSTGRES_PASSWORD}`);
  });
});

describe('the unit of systemd', () => {
  const setting = (name: string) => new RegExp(`^${name}=(.*)$`, 'm').exec(read('tidemark.service'))![1]!;
  const isMissing = !process.env.CI && !existsSync('/usr/bin/systemd-analyze');

  it.runIf(!isMissing)('is valid', () => {
    const { status, stderr } = spawnSync('systemd-analyze', ['verify', pathOf('tidemark.service')], {
      encoding: 'utf8',
    });
    // A setting that it does not know is only a warning. It may warn of the machine's own units, too.
    expect(stderr.split('\n').filter((line) => line.includes('tidemark'))).toEqual([]);
    expect(status).toBe(0);
  });

  it('runs the server, and gives it enough time to stop', async () => {
    await expectCommand(setting('ExecStart').replace('/usr/bin/env node ', '').split(' '));
    expect(Number(setting('TimeoutStopSec'))).toBeGreaterThan(stopSeconds);
  });

  it('reloads the server by the signal that replaces its workers', () => {
    expect(setting('ExecStart')).toContain('--workers');
    expect(setting('ExecReload')).toBe('/bin/kill -HUP $MAINPID');
  });
});

describe('the manifests for Kubernetes', () => {
  const [deployment, job] = blocksOf('docs/deployment.md', 'yaml').flatMap((block) =>
    parseAllDocuments(block).map((one) => one.toJS({ maxAliasCount: 0 })),
  );

  it('probe only paths that the server answers', async () => {
    const [{ livenessProbe, readinessProbe, startupProbe }] = deployment.spec.template.spec.containers;
    const server = await startServer();
    try {
      for (const { httpGet } of [livenessProbe, readinessProbe, startupProbe]) {
        expect((await fetch(`${server.url}${httpGet.path}`)).status).toBe(200);
      }
    } finally {
      await server.close();
    }
    expect(livenessProbe.httpGet.path).toBe('/healthz');
    expect(readinessProbe.httpGet.path).toBe('/readyz');
  });

  it('give the server enough time to stop', () => {
    const { terminationGracePeriodSeconds, containers } = deployment.spec.template.spec;
    const { seconds } = containers[0].lifecycle.preStop.sleep;
    expect(terminationGracePeriodSeconds).toBeGreaterThan(seconds + stopSeconds);
  });

  it('run the migration in a job', async () => {
    await expectCommand(job.spec.template.spec.containers[0].command);
  });
});
