/** The network of one client. It sends some pushes twice, and judges the responses. */
import { Network } from '../../../../packages/client/src/sync/network.js';
import type { TextResponse } from '../../../../packages/client/src/sync/transport.js';
import type { PullAnswer } from '../../../integration/conformance/wire.js';
import type { Random } from '../../oracle/random.js';
import type { Mirror } from './mirror.js';
import type { Tally } from './tally.js';

const doubledShare = 0.2;

export interface NetworkOptions {
  /** The URL for the next request, without a trailing slash. */
  readonly route: () => string;
  readonly random: Random;
  readonly tally: Tally;
  readonly mirror: Mirror;
}

export class JudgedNetwork extends Network {
  readonly #options: NetworkOptions;

  constructor(options: NetworkOptions) {
    super();
    this.#options = options;
  }

  override async post(url: string, options: Parameters<Network['post']>[1]): Promise<TextResponse> {
    const { pathname } = new URL(url);
    const init = { method: 'POST', headers: options.headers, body: options.body };
    return pathname === '/sync/pull' ? this.#pull(pathname, init) : this.#push(pathname, init);
  }

  async #pull(path: string, init: RequestInit): Promise<TextResponse> {
    const { tally, mirror } = this.#options;
    tally.pulls++;
    const { cookie } = JSON.parse(String(init.body));
    const { status, text } = await this.#send(path, init);
    const answer = status === 200 ? JSON.parse(text) : { error: status };
    if (!('error' in answer)) {
      for (const fault of mirror.take(cookie, answer as PullAnswer)) tally.object(fault);
    }
    return { status, text };
  }

  async #push(path: string, init: RequestInit): Promise<TextResponse> {
    const { random, tally } = this.#options;
    const isDoubled = random.chance(doubledShare);
    tally.pushes++;
    if (isDoubled) tally.doubled++;
    const sent = [this.#send(path, init), ...(isDoubled ? [this.#send(path, init)] : [])];
    const [received] = await Promise.all(sent);
    const { status, text } = received!;
    if (status === 200) tally.accepted++;
    return { status, text };
  }

  async #send(path: string, init: RequestInit): Promise<TextResponse> {
    const { route, tally } = this.#options;
    const { status, text, retryAfter } = await receive(route() + path, init).catch((error: unknown) => {
      tally.broken++;
      throw error;
    });
    if (status === 503) tally.unavailable++;
    if (status === 409 && text.includes('"mutation-gap"')) tally.gaps++;
    else if (status !== 200 && status !== 503) tally.object(`${path} got ${status} ${text}`);
    if (status === 503 && retryAfter === null) tally.object(`${path} got 503 without Retry-After`);
    return { status, text };
  }
}

async function receive(url: string, init: RequestInit) {
  const response = await fetch(url, init);
  return { status: response.status, retryAfter: response.headers.get('Retry-After'), text: await response.text() };
}
