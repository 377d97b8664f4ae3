/** A client that sends each call with its own idempotency key, and repeats it until it is answered. */
import { setTimeout as sleep } from 'node:timers/promises';

/** Counts of what the clients encountered. */
export interface Tally {
  /** Requests that are in progress. */
  open: number;
  /** Connections that broke before the answer arrived. */
  broken: number;
  /** Responses with 503. */
  unavailable: number;
  /** Responses with 409: the first request with the key was still in progress. */
  busy: number;
  /** Responses with 200. */
  answers: number;
  /** Replayed answers to calls whose first answer was lost on its way to the client. */
  replayed: number;
  /** Answers to calls that the client had already received an answer to. */
  repeated: number;
}

export interface Answer {
  readonly text: string;
  readonly replayed: boolean;
}

export interface KeyedClientOptions {
  /** The current address of the server. */
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

  /** Resolves with the answer, once there is one. Rejects if a response says that the call or the server is wrong. */
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
