import type { StandardSchemaV1 } from '@standard-schema/spec';

/** A validator's verdict on a value, with its output if it accepts the value. */
export type Verdict = { readonly isAccepted: true; readonly value: unknown } | { readonly isAccepted: false };

const timeoutMs = 1_000;
const refused: Verdict = { isAccepted: false };

/** Validates a value. A validator that throws, or takes longer than a second, counts as refusing it. */
export async function verdictOf(validator: StandardSchemaV1, value: unknown): Promise<Verdict> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Verdict>((resolve) => {
    timer = setTimeout(() => resolve(refused), timeoutMs);
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

/** Returns true if a validator seems to accept no JSON value at all. Tries one value of each kind. */
export async function refusesJson(validator: StandardSchemaV1): Promise<boolean> {
  const verdicts = await Promise.all([null, false, 0, '', [], {}].map((value) => verdictOf(validator, value)));
  return verdicts.every(({ isAccepted }) => !isAccepted);
}
