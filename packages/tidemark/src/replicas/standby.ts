import type { UserContext } from '../context.js';
import { ConnectionLostError } from '../db/sqlstate.js';
import type { Replica } from './replica.js';
import type { HealthCheck } from './replica-health.js';

/** The state of a standby. */
export interface StandbyState {
  readonly name: string;
  readonly isUsed: boolean;
  /** Undefined if it is unknown. */
  readonly lagMs: number | undefined;
}

/** A standby, and the result of its last health check. */
export class Standby<Context extends UserContext> {
  readonly replica: Replica<Context>;
  lastCheck: HealthCheck = { health: 'unreachable', lagMs: undefined };
  readonly #pending = new Set<(error: Error) => void>();

  constructor(replica: Replica<Context>) {
    this.replica = replica;
  }

  /** Its name in logs and metrics. */
  get name(): string {
    return this.replica.db.name;
  }

  get isUsed(): boolean {
    return this.lastCheck.health === 'healthy';
  }

  /**
   * Waits for an answer until a health check finds the standby unreachable, because connections can hang for minutes.
   * @param onLate called with an answer that arrives after that
   * @throws ConnectionLostError if the standby is unreachable, and what the work throws
   */
  ask<T>(work: Promise<T>, onLate: (answer: T) => void): Promise<T> {
    return new Promise((resolve, reject) => {
      const abandon = (error: Error) => {
        work.then(onLate, () => {});
        reject(error);
      };
      this.#pending.add(abandon);
      work.finally(() => this.#pending.delete(abandon)).then(resolve, reject);
    });
  }

  /** Rejects all pending requests to the standby. */
  giveUp(): void {
    const pending = [...this.#pending];
    this.#pending.clear();
    for (const abandon of pending) abandon(new ConnectionLostError('The standby does not answer'));
  }
}
