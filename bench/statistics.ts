/** Takes samples. Contenders are measured in turns, so that noise affects all of them alike. */

export function quantile(samples: readonly number[], q: number): number {
  const sorted = samples.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? Number.NaN;
}

export function median(samples: readonly number[]): number {
  return quantile(samples, 0.5);
}

/** Runs all contenders in each round, starting with another one each time, and returns their samples. */
export async function inTurns<Name extends string, Sample>(
  rounds: number,
  contenders: Record<Name, () => Promise<Sample>>,
): Promise<Record<Name, Sample[]>> {
  const names = Object.keys(contenders) as Name[];
  const samples = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<Name, Sample[]>;
  for (let round = 0; round < rounds; round++) {
    for (let i = 0; i < names.length; i++) {
      const name = names[(i + round) % names.length]!;
      samples[name].push(await contenders[name]());
    }
  }
  return samples;
}

/** Returns the rate per second at which this many concurrent workers do `work`. */
export async function ratePerSecond(
  workers: number,
  milliseconds: number,
  work: (worker: number) => Promise<unknown>,
): Promise<number> {
  const started = performance.now();
  let done = 0;
  await Promise.all(
    Array.from({ length: workers }, async (_, worker) => {
      for (; performance.now() - started < milliseconds; done++) await work(worker);
    }),
  );
  return (1000 * done) / (performance.now() - started);
}
