import type { Edges, Statement } from '../../db/database.js';
import { codeOf } from '../../db/sqlstate.js';
import { Problem, SetupError } from '../../errors.js';
import { claimKey, type KeyRef, type KeyRow, storeAnswer } from '../../store/idempotency-keys.js';
import type { Claim } from '../mutate.js';

/** Claims a request, so that it is applied only once, and stores its answer. */
export interface AnswerClaim<Answer> extends Claim<Answer> {
  /** Returns the statement that stores the answer, for the transaction that holds the claim. */
  store(answer: Answer): Statement;
}

/** The idempotency key of a request. The first request with a key is applied; later ones get its answer. */
export class IdempotencyKey implements AnswerClaim<string> {
  readonly #ref: KeyRef;
  readonly #fingerprint: string;
  readonly statements: readonly Statement[];

  /** @param fingerprint the digest of the request's calls; see `fingerprintOf` */
  constructor(ref: KeyRef, fingerprint: string, retentionSeconds: number) {
    this.#ref = ref;
    this.#fingerprint = fingerprint;
    this.statements = [claimKey(ref, retentionSeconds)];
  }

  /**
   * Returns the stored answer if an earlier transaction has applied the request.
   * @throws Problem `idempotency-key-in-flight` or `idempotency-key-reused`
   */
  take([rows]: Edges['first']): string | undefined {
    const [{ locked, fingerprint, answer }] = rows as readonly [KeyRow];
    if (!locked) {
      throw new Problem('idempotency-key-in-flight', 'A call with this Idempotency-Key is still running');
    }
    if (fingerprint !== null && fingerprint !== this.#fingerprint) {
      const detail = 'This Idempotency-Key was used for another mutator or with other args';
      throw new Problem('idempotency-key-reused', detail);
    }
    return answer ?? undefined;
  }

  store(answer: string): Statement {
    return storeAnswer(this.#ref, { fingerprint: this.#fingerprint, answer });
  }
}

/** undefined_function, undefined_table, invalid_schema_name, insufficient_privilege */
const missingStates: readonly (string | undefined)[] = ['42883', '42P01', '3F000', '42501'];

/** @throws SetupError if the claim failed because of a missing function, table, schema or privilege */
export function explainMissing(cause: unknown): never {
  if (!missingStates.includes(codeOf(cause))) throw cause;
  const message =
    "Idempotency keys cannot be stored: run tidemark migrate on this database, and grant the server's role what it needs";
  throw new SetupError(message, { cause });
}
