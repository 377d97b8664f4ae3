/** A client that sends each call with an idempotency key of its own, again and again until it is answered. */
import { setTimeout as sleep } from 'node:timers/promises';

/** What clients met on the way. */
export interface Tally {
  /** Requests that are under way now. */
  open: number;
  /** Connections that broke before the answer was there. */
  broken: number;
  /** 503. */
  unavailable: number;
  /** 409: the first request with the key was still at work. */
  busy: number;
  /** 200. */
  answers: number;
  /** First answers to a call that had been given before, and lost on the way. */
  replayed: number;
  /** Answers to calls that had been answered already. */
  repeated: number;
}

export interface Answer {
  readonly text: string;
  readonly replayed: boolean;
}

export interface KeyedClientOptions {
  /** Where the server is at the moment. */
  readonly url: () => Promise<string>;
  readonly tally: Tally;
  readonly random: (below: number) => number;
}

/** Longer than any request takes. */
const hangMs = 20_000;

export class KeyedClient {
  readonly #options: KeyedClientOptions;

  constructor(options: KeyedClientOptions) {
    this.#options = options;
  }

  /**
   * Resolves with the answer, once there is one. Rejects for an answer that says that the call is wrong, or the server.
   */
  async call(path: string, body: unknown, key: string): Promise<Answer> {
    const { url, tally, random } = this.#options;
    for (;;) {
      const address = await url();
      const response = await this.#send(`${address}${path}`, body, key);
      if (response?.status === 200) {
        tally.answers++;
        return response;
      }
      if (response === undefined) tally.broken++;
      else if (response.status === 503) tally.unavailable++;
      else if (response.status === 409 && response.text.includes('idempotency-key-in-flight')) tally.busy++;
      else throw new Error(`${response.status}: ${response.text}`);
      await sleep(random(10));
    }
  }

  async #send(url: string, body: unknown, key: string): Promise<(Answer & { status: number }) | undefined> {
    const { tally } = this.#options;
    tally.open++;
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', 'Idempotency-Key': key },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(hangMs),
      });
      const replayed = response.headers.get('Idempotent-Replayed') === 'true';
      return { status: response.status, text: await response.text(), replayed };
    } catch (error) {
      if (error instanceof DOMException) throw error;
      return undefined;
    } finally {
      tally.open--;
    }
  }
}
