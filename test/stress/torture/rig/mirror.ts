/**
 * What a client group holds according to the responses to its pulls, each of which must be one snapshot: mutation n of a
 * client has written n into its row, and the accounts of a user sum up to what they always did.
 */
import { applied, compareCookies, type PullAnswer } from '../../../integration/conformance/wire.js';
import { wealth } from './schema.js';

interface State {
  readonly rows: ReadonlyMap<string, unknown>;
  /** The group's lastMutationIDs. */
  readonly told: ReadonlyMap<string, number>;
}

const nothing: State = { rows: new Map(), told: new Map() };
/** A client asks with its newest cookie; one that is opened again, with what it had stored. */
const keptStates = 100;

type Cookie = Parameters<typeof compareCookies>[0];

export class Mirror {
  readonly #states = new Map<string, State>([['null', nothing]]);

  /**
   * Takes the response to a pull, and returns what is wrong with it.
   * @param asked the request's cookie
   */
  take(asked: Cookie, { cookie, patch, lastMutationIDChanges }: PullAnswer): string[] {
    const before = this.#states.get(JSON.stringify(asked));
    if (!before) return ['a pull asks with a cookie that no response has given'];
    const order = compareCookies(cookie, asked);
    if (order < 0) return [`the cookie falls from ${JSON.stringify(asked)} to ${JSON.stringify(cookie)}`];
    if (order === 0) return patch.length === 0 ? [] : ['a patch comes with an equal cookie'];
    const told = new Map([...before.told, ...Object.entries(lastMutationIDChanges)]);
    const after = { rows: applied(before.rows, patch), told };
    this.#keep(JSON.stringify(cookie), after);
    return [...surplus(before, patch), ...fallen(before, after), ...torn(after)];
  }

  /** Forgets the lastMutationIDs: a client goes on under another client group. */
  startGroup(): void {
    for (const [cookie, { rows }] of this.#states) this.#states.set(cookie, { rows, told: new Map() });
  }

  #keep(cookie: string, state: State): void {
    this.#states.set(cookie, state);
    // The first is that of the null cookie.
    const [, oldest] = this.#states.keys();
    if (this.#states.size > keptStates) this.#states.delete(oldest!);
  }
}

function surplus({ rows }: State, patch: PullAnswer['patch']): string[] {
  if (patch[0]?.op === 'clear') return [];
  return patch.flatMap((op) =>
    op.op === 'del' && !rows.has(op.key) ? [`${op.key} is deleted, and was not there`] : [],
  );
}

function fallen(before: State, after: State): string[] {
  return [...before.told].flatMap(([id, n]) =>
    after.told.get(id)! < n ? [`the lastMutationID of ${id} falls from ${n} to ${after.told.get(id)}`] : [],
  );
}

function torn({ rows, told }: State): string[] {
  const faults: string[] = [];
  for (const [id, lastMutationID] of told) {
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
