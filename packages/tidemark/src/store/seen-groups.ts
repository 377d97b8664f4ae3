/** Tracks which client groups are in use, and forgets the others. */
import { BoundedMap } from '../bounded-map.js';
import type { Database } from '../db/database.js';

/** How long an active group is noted only once, in milliseconds. */
const dayMs = 24 * 60 * 60 * 1000;

/** The maximum number of groups in memory. */
const maxGroups = 100_000;

/** Skips groups that another server is updating at the same time. */
const touchSql = `
  update tidemark.client_group set seen_at = now() where id in (
    select id from tidemark.client_group
    where id = any ($1) and seen_at < now() - interval '1 day' for no key update skip locked
  )`;

/** Deletes clients with their group. While the group is locked, no transaction can add a client to it. */
const forgetSql = `
  with expired as (
    select id from tidemark.client_group where seen_at < now() - make_interval(secs => $1)
    order by seen_at limit $2 for update skip locked
  ), clients as (
    delete from tidemark.client where client_group_id in (select id from expired)
  )
  delete from tidemark.client_group where id in (select id from expired) returning id`;

const batchSize = 1_000;

/** Notes which client groups pull and push here. `write` stores them later, in one statement, and each once a day. */
export class SeenGroups {
  #recentGroups = new BoundedMap<string, true>(maxGroups);
  #recentSince = performance.now();
  #unwritten = new Set<string>();

  note(clientGroupID: string): void {
    if (this.#recentGroups.get(clientGroupID) || this.#unwritten.size >= maxGroups) return;
    this.#recentGroups.set(clientGroupID, true);
    this.#unwritten.add(clientGroupID);
  }

  /** Stores the noted groups. If that fails, a group is noted again at its next request. */
  async write(db: Pick<Database, 'query'>): Promise<void> {
    const ids = [...this.#unwritten];
    this.#unwritten = new Set();
    if (performance.now() - this.#recentSince > dayMs) {
      this.#recentGroups = new BoundedMap(maxGroups);
      this.#recentSince = performance.now();
    }
    if (ids.length === 0) return;
    await db.query({ text: touchSql, values: [ids] }).catch((error: unknown) => {
      for (const id of ids) this.#recentGroups.delete(id);
      throw error;
    });
  }
}

/**
 * Forgets the client groups that have been inactive for the retention. The server rejects their clients as unknown, and
 * they start over with new IDs.
 * @returns the number of groups that were forgotten
 */
export async function forgetGroups(db: Pick<Database, 'query'>, retentionSeconds: number): Promise<number> {
  for (let forgotten = 0; ; ) {
    const { length } = await db.query({ text: forgetSql, values: [retentionSeconds, batchSize] });
    forgotten += length;
    if (length < batchSize) return forgotten;
  }
}
