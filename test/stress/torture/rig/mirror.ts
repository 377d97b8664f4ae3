/**
 * The state of a client group by the responses to its pulls. Each response must be one snapshot: mutation n of a client
 * has written n into its row, and the sum of a user's accounts has not changed.
 */
import { applied, compareCookies, type PullAnswer } from '../../../integration/conformance/wire.js';
import { wealth } from './schema.js';

interface State {
  readonly rows: ReadonlyMap<string, unknown>;
  /** The group's lastMutationIDs. */
  readonly confirmed: ReadonlyMap<string, number>;
}

const nothing: State = { rows: new Map(), confirmed: new Map() };
/** A client sends its newest cookie. A reopened client sends the stored one. */
const maxStates = 100;

type Cookie = Parameters<typeof compareCookies>[0];

export class Mirror {
  readonly #states = new Map<string, State>([['null', nothing]]);

  /**
   * Applies the response to a pull, and returns its faults.
   * @param base the request's cookie
   */
  take(base: Cookie, { cookie, patch, lastMutationIDChanges }: PullAnswer): string[] {
    const before = this.#states.get(JSON.stringify(base));
    if (!before) return ['a pull asks with a cookie that no response has given'];
    const order = compareCookies(cookie, base);
    if (order < 0) return [`the cookie falls from ${JSON.stringify(base)} to ${JSON.stringify(cookie)}`];
    if (order === 0) return patch.length === 0 ? [] : ['a patch comes with an equal cookie'];
    const confirmed = new Map([...before.confirmed, ...Object.entries(lastMutationIDChanges)]);
    const after = { rows: applied(before.rows, patch), confirmed };
    this.#keep(JSON.stringify(cookie), after);
    return [...surplus(before, patch), ...fallen(before, after), ...torn(after)];
  }

  /** Drops the lastMutationIDs, because the client continues with another client group. */
  startGroup(): void {
    for (const [cookie, { rows }] of this.#states) this.#states.set(cookie, { rows, confirmed: new Map() });
  }

  #keep(cookie: string, state: State): void {
    this.#states.set(cookie, state);
    // The first state is that of the null cookie.
    const [, oldest] = this.#states.keys();
    if (this.#states.size > maxStates) this.#states.delete(oldest!);
  }
}

function surplus({ rows }: State, patch: PullAnswer['patch']): string[] {
  if (patch[0]?.op === 'clear') return [];
  return patch.flatMap((op) =>
    op.op === 'del' && !rows.has(op.key) ? [`${op.key} is deleted, and was not there`] : [],
  );
}

function fallen(before: State, after: State): string[] {
  return [...before.confirmed].flatMap(([id, n]) =>
    after.confirmed.get(id)! < n ? [`the lastMutationID of ${id} falls from ${n} to ${after.confirmed.get(id)}`] : [],
  );
}

function torn({ rows, confirmed }: State): string[] {
  const faults: string[] = [];
  for (const [id, lastMutationID] of confirmed) {
    const { n, effects } = (rows.get(`counter/${id}`) ?? { n: 0, effects: 0 }) as { n: number; effects: number };
    if (n !== lastMutationID || effects !== lastMutationID) {
      faults.push(`lastMutationID ${lastMutationID} comes with row ${n}, after ${effects} effects`);
    }
  }
  const accounts = [...rows].filter(([key]) => key.startsWith('account/'));
  const sum = accounts.reduce((total, [, row]) => total + (row as { balance: number }).balance, 0);
  if (accounts.length > 0 && sum !== wealth) faults.push(`the accounts sum up to ${sum}, not to ${wealth}`);
  return faults;
}
