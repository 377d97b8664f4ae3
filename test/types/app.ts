/** An application's own types, and the types for comparisons. */
import type { UserContext } from 'tidemark';

export interface AppContext extends UserContext {
  readonly roles: readonly string[];
}

export interface AppTransaction {
  insert(row: object): Promise<void>;
  count(): Promise<number>;
}

export type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

/** Compiles only if the condition is true. */
export function holds<_ extends true>(): void {}
