import type { StandardSchemaV1 } from '@standard-schema/spec';

export type Verdict = { readonly isAccepted: true; readonly value: unknown } | { readonly isAccepted: false };

const patienceMs = 1_000;
const refused: Verdict = { isAccepted: false };

/**
 * Whether a validator accepts a value, and what it makes of it. One that throws, or is silent for a second, does not.
 */
export async function probe(validator: StandardSchemaV1, value: unknown): Promise<Verdict> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Verdict>((resolve) => {
    timer = setTimeout(() => resolve(refused), patienceMs);
  });
  const verdict = async (): Promise<Verdict> => {
    const result = await validator['~standard'].validate(value);
    return result.issues ? refused : { isAccepted: true, value: result.value };
  };
  try {
    return await Promise.race([verdict(), late]);
  } catch {
    return refused;
  } finally {
    clearTimeout(timer);
  }
}

/** Whether a validator accepts no JSON value at all, as far as one of each kind tells. */
export async function refusesJson(validator: StandardSchemaV1): Promise<boolean> {
  const verdicts = await Promise.all([null, false, 0, '', [], {}].map((value) => probe(validator, value)));
  return verdicts.every(({ isAccepted }) => !isAccepted);
}
