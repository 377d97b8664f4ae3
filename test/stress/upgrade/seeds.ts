/** The seeds of a test's histories: one, or as many as `npm run stress -- upgrade` requests. */
const { TIDEMARK_UPGRADE_SEED: first = '18', TIDEMARK_UPGRADE_ROUNDS: rounds = '1' } = process.env;

export const seeds: readonly number[] = Array.from({ length: Number(rounds) }, (_, i) => Number(first) + i);
