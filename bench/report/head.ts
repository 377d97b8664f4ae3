import type { Run } from './run-record.js';

/** The table at the top of a page: when, where and with what a run measured. */
export function headOf({ at, seconds, machine, tidemark, node, postgres, settings }: Run): string {
  const { cpus, model, memoryMB, platform, load } = machine;
  const remark = load < cpus / 4 ? '' : ': other work made everything slower';
  const set = Object.entries(settings).map(([name, value]) => `${name} = ${value}`);
  return `| | |
|---|---|
| Date | ${at.slice(0, 10)}, ${Math.round(seconds / 60)} minutes |
| Machine | ${cpus} × ${model}, ${Math.round(memoryMB / 1024)} GB, ${platform}; load before the run ${load.toFixed(1)}${remark} |
| Versions | Tidemark ${tidemark}, Node ${node}, ${postgres} |
| Postgres's settings | ${set.join(', ')}; otherwise the defaults, so every commit is durable |`;
}
