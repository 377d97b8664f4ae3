/** Which client groups are still in use, and which can be forgotten. */
import { BoundedMap } from '../bounded-map.js';
import type { Database } from '../db/database.js';

/** How long a group that was heard of is not noted again, in milliseconds. */
const dayMs = 24 * 60 * 60 * 1000;

/** How many groups are remembered. */
const kept = 100_000;

/** What another server is writing about at the same time need not be written twice. */
const touch = `
  update tidemark.client_group set seen_at = now() where id in (
    select id from tidemark.client_group
    where id = any ($1) and seen_at < now() - interval '1 day' for no key update skip locked
  )`;

/** Clients are deleted with their group: as long as that is locked, none can be added to it. */
const forget = `
  with away as (
    select id from tidemark.client_group where seen_at < now() - make_interval(secs => $1)
    order by seen_at limit $2 for update skip locked
  ), clients as (
    delete from tidemark.client where client_group_id in (select id from away)
  )
  delete from tidemark.client_group where id in (select id from away) returning id`;

const batch = 1_000;

/** Notes which client groups pull and push here. They are written down later, all at once, and each once a day. */
export class SeenGroups {
  #known = new BoundedMap<string, true>(kept);
  #knownSince = performance.now();
  #unwritten = new Set<string>();

  note(clientGroupID: string): void {
    if (this.#known.get(clientGroupID) || this.#unwritten.size >= kept) return;
    this.#known.set(clientGroupID, true);
    this.#unwritten.add(clientGroupID);
  }

  /** Writes down what has been noted. What cannot be written is noted when the group is heard of again. */
  async write(db: Pick<Database, 'query'>): Promise<void> {
    const ids = [...this.#unwritten];
    this.#unwritten = new Set();
    if (performance.now() - this.#knownSince > dayMs) {
      this.#known = new BoundedMap(kept);
      this.#knownSince = performance.now();
    }
    if (ids.length === 0) return;
    await db.query({ text: touch, values: [ids] }).catch((error: unknown) => {
      for (const id of ids) this.#known.delete(id);
      throw error;
    });
  }
}

/**
 * Forgets the client groups that have not been heard of for so long. Their clients are told that they are unknown, and
 * start over as others.
 * @returns how many were forgotten
 */
export async function forgetGroups(db: Pick<Database, 'query'>, retentionSeconds: number): Promise<number> {
  for (let forgotten = 0; ; ) {
    const { length } = await db.query({ text: forget, values: [retentionSeconds, batch] });
    forgotten += length;
    if (length < batch) return forgotten;
  }
}
