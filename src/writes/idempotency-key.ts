import { codeOf } from '../db/sqlstate.js';
import { Problem, SetupError } from '../errors.js';
import { type KeyRef, keepAnswer, lockKey, type Query, readAnswer } from '../store/idempotency-keys.js';

/** A transaction, with a way to run Tidemark's own statements in it if there is one. */
interface Queryable {
  readonly query?: Query | undefined;
}

/** The idempotency key of a request. The first request with a key is applied; later ones get the first one's answer. */
export class IdempotencyKey {
  readonly #ref: KeyRef;
  readonly #fingerprint: string;
  readonly #retentionSeconds: number;

  /** @param fingerprint the digest of what the request asks for; see `fingerprintOf` */
  constructor(ref: KeyRef, fingerprint: string, retentionSeconds: number) {
    this.#ref = ref;
    this.#fingerprint = fingerprint;
    this.#retentionSeconds = retentionSeconds;
  }

  /**
   * Locks the key until the end of the transaction. Returns the stored answer if an earlier transaction has applied the
   * request.
   * @throws Problem `idempotency-key-in-flight`, `idempotency-key-reused`, or `malformed-request` if keys are not
   * supported; SetupError if the table for keys is missing or the role may not use it.
   */
  async claim({ query }: Queryable): Promise<string | undefined> {
    if (query === undefined) throw new Problem('malformed-request', 'Idempotency-Key is not supported here');
    if (!(await lockKey(query, this.#ref))) {
      throw new Problem('idempotency-key-in-flight', 'A call with this Idempotency-Key is still running');
    }
    const found = await readAnswer(query, this.#ref, this.#retentionSeconds).catch(explainMissing);
    if (found !== undefined && found.fingerprint !== this.#fingerprint) {
      const detail = 'This Idempotency-Key was used for another mutator or with other args';
      throw new Problem('idempotency-key-reused', detail);
    }
    return found?.answer;
  }

  /** Stores the answer, in the transaction that has claimed the key. */
  async keep({ query }: Queryable, answer: string): Promise<void> {
    await keepAnswer(query!, this.#ref, { fingerprint: this.#fingerprint, answer });
  }
}

/** undefined_table, insufficient_privilege */
const missingStates: readonly (string | undefined)[] = ['42P01', '42501'];

function explainMissing(cause: unknown): never {
  if (!missingStates.includes(codeOf(cause))) throw cause;
  const message =
    "Idempotency keys cannot be stored: run tidemark migrate on this database, and grant the server's role what it needs";
  throw new SetupError(message, { cause });
}
