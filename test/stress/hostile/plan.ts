/** Chooses the treatment of each request from a seed. The n-th pull of a client is treated alike in each run. */
import { Random } from '../oracle/random.js';
import { type ProxiedRequest, pass, type Treatment, type TreatmentKind } from './proxy.js';

const kinds = ['pull', 'push', 'poke'] as const;
type Kind = (typeof kinds)[number];

type Weighted = readonly (readonly [weight: number, kind: TreatmentKind, minMs?: number, maxMs?: number])[];

/** Two out of three requests succeed, some of them late. With fewer, clients would mostly wait. */
const ofRequests: Weighted = [
  [58, 'pass'],
  [10, 'delay', 100, 1_500],
  [3, 'trickle', 50, 150],
  [4, 'swallow request'],
  [5, 'swallow response'],
  [4, 'forward late', 2_000, 6_000],
  [3, 'repeat'],
  [4, 'halve'],
  [2, 'reset request'],
  [3, 'reset response'],
  [4, 'unavailable'],
];

const ofStreams: Weighted = [
  [15, 'pass'],
  [10, 'delay', 100, 3_000],
  [10, 'swallow request'],
  [5, 'swallow response'],
  [15, 'halve'],
  [40, 'reset response', 200, 20_000],
  [5, 'unavailable'],
];

/** The largest push that the proxy forwards, in bytes. */
const maxPushBytes = 30_000;

/** A request, for the log. */
export interface Treated {
  readonly at: number;
  readonly slot: number;
  readonly kind: Kind;
  readonly n: number;
  readonly treatment: Treatment;
}

export class TreatmentPlan {
  readonly #random: Random;
  readonly #counts = new Map<string, number>();
  readonly treated: Treated[] = [];
  /** True while no request gets through. */
  isOutage = false;
  /** True while the plan decides, from the opening of all tabs to the end. */
  isOn = false;

  constructor(seed: number) {
    this.#random = new Random(seed);
  }

  readonly treat = ({ path, headers, bytes }: ProxiedRequest): Treatment => {
    const kind = kinds.find((kind) => path.startsWith(`/sync/${kind}`));
    if (!kind) return pass;
    const slot = Number(/\/(\d+)$/.exec(headers.authorization ?? '')?.[1]);
    const name = `${slot} ${kind}`;
    const n = (this.#counts.get(name) ?? 0) + 1;
    this.#counts.set(name, n);
    const treatment = this.#choose(slot, kind, n, bytes);
    this.treated.push({ at: performance.now(), slot, kind, n, treatment });
    return treatment;
  };

  #choose(slot: number, kind: Kind, n: number, bytes: number): Treatment {
    if (!this.isOn) return pass;
    if (this.isOutage) return { kind: 'reset request' };
    if (kind === 'push' && bytes > maxPushBytes) return { kind: 'too large' };
    const random = this.#random.stream(slot).stream(kinds.indexOf(kind)).stream(n);
    // Early and only once. A client fetches new credentials at most every 30 s, also after another 401.
    if (kind === 'pull' && n === 3 + (slot % 5)) return { kind: 'unauthorized' };
    const weights = kind === 'poke' ? ofStreams : ofRequests;
    const [, chosen, minMs, maxMs] = random.weighted(weights.map((entry) => [entry[0], entry]));
    return minMs === undefined ? { kind: chosen } : { kind: chosen, ms: random.between(minMs, maxMs!) };
  }
}
