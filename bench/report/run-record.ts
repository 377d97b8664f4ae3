/** The record of a run, kept as JSON. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { arch, cpus, loadavg, platform, totalmem } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Result, Scale } from '../scenario.js';

/** The result of EXPLAIN for one statement. */
export interface Plan {
  readonly name: string;
  readonly lines: readonly string[];
}

export interface ScenarioRecord {
  readonly name: string;
  /** One sentence that says what is measured. */
  readonly about: string;
  readonly results: readonly Result[];
}

export interface Machine {
  readonly cpus: number;
  readonly model: string;
  readonly memoryMB: number;
  readonly platform: string;
  /** The load average over the last minute before the run, which shows what else used the machine. */
  readonly load: number;
}

/** The properties that all runs record. */
export interface Run {
  readonly at: string;
  readonly seconds: number;
  readonly machine: Machine;
  readonly node: string;
  readonly tidemark: string;
  readonly postgres: string;
  readonly settings: Readonly<Record<string, string>>;
}

export interface RunRecord extends Run {
  readonly scale: Scale;
  readonly scenarios: readonly ScenarioRecord[];
  readonly plans: readonly Plan[];
}

/** Begins a run: records when and on what it runs, and prints its progress. */
export function beginRun() {
  const machine = describeMachine();
  const at = new Date().toISOString();
  const started = performance.now();
  const secondsSoFar = () => (performance.now() - started) / 1000;
  const progress = (message: string) => console.error(`${secondsSoFar().toFixed(0).padStart(4)} s  ${message}`);
  return { machine, at, secondsSoFar, progress };
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
  const text = readFileSync(new URL('../../packages/tidemark/package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

/** Writes to `bench/results`, which is not under version control. Returns the path of the file. */
export function writeRun(run: RunRecord): string {
  for (const { name, value } of run.scenarios.flatMap(({ results }) => results)) {
    if (!Number.isFinite(value)) throw new Error(`"${name}" was not measured`);
  }
  return writeResult(run.at, run);
}

/** @param name The file's name, in which colons and dots are replaced. */
export function writeResult(name: string, record: object): string {
  const folder = fileURLToPath(new URL('../results/', import.meta.url));
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `${name.replace(/[:.]/g, '-')}.json`);
  writeFileSync(path, textOf(record));
  return path;
}

/** The text of a record's file. */
export function textOf(record: object): string {
  return `${JSON.stringify(record, null, 2)}\n`;
}
