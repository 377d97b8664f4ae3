/** What is kept of a run, as JSON. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { arch, cpus, loadavg, platform, totalmem } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Result, Scale } from '../scenario.js';

/** What EXPLAIN says about one statement. */
export interface Plan {
  readonly name: string;
  readonly lines: readonly string[];
}

export interface ScenarioRecord {
  readonly name: string;
  /** One sentence on what is measured. */
  readonly about: string;
  readonly results: readonly Result[];
}

export interface Machine {
  readonly cpus: number;
  readonly model: string;
  readonly memoryMB: number;
  readonly platform: string;
  /** Just before the run, over the last minute: how many others wanted a processor. */
  readonly load: number;
}

export interface RunRecord {
  readonly at: string;
  readonly seconds: number;
  readonly machine: Machine;
  readonly node: string;
  readonly tidemark: string;
  readonly postgres: string;
  readonly settings: Readonly<Record<string, string>>;
  readonly scale: Scale;
  readonly scenarios: readonly ScenarioRecord[];
  readonly plans: readonly Plan[];
}

export function describeMachine(): Machine {
  return {
    cpus: cpus().length,
    model: cpus()[0]?.model ?? 'unknown',
    memoryMB: Math.round(totalmem() / 2 ** 20),
    platform: `${platform()} ${arch()}`,
    load: loadavg()[0]!,
  };
}

export function packageVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

/**
 * Writes to `bench/results`, which is not under version control.
 * @returns the path of the file written
 */
export function writeRun(run: RunRecord): string {
  for (const { name, value } of run.scenarios.flatMap(({ results }) => results)) {
    if (!Number.isFinite(value)) throw new Error(`"${name}" was not measured`);
  }
  return writeResult(run.at, run);
}

/** @param name colons and dots in it are replaced */
export function writeResult(name: string, record: object): string {
  const folder = fileURLToPath(new URL('../results/', import.meta.url));
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `${name.replace(/[:.]/g, '-')}.json`);
  writeFileSync(path, textOf(record));
  return path;
}

/** As a record is kept in a file. */
export function textOf(record: object): string {
  return `${JSON.stringify(record, null, 2)}\n`;
}
