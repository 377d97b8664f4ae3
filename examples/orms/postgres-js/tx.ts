import type { PoolClient } from 'pg';
import { sql } from 'tidemark';

/** What postgres.js calls `TransactionSql`, as far as it is here: a tag that runs queries, and savepoints. */
export interface Tag {
  <Row>(strings: TemplateStringsArray, ...parts: readonly unknown[]): Promise<Row[]>;
  /** Runs work in a transaction within this one. */
  savepoint<Result>(work: (tag: Tag) => Promise<Result>): Promise<Result>;
}

/** What mutators get: queries in the manner of postgres.js, in their transaction. */
export function tx(client: PoolClient): Tag {
  const tag = async (strings: TemplateStringsArray, ...parts: readonly unknown[]) => {
    const { text, values } = sql(strings, ...parts);
    return (await client.query(text, [...values])).rows;
  };
  const savepoint = async <Result>(work: (inner: Tag) => Promise<Result>) => {
    await client.query('begin');
    try {
      const result = await work(tx(client));
      await client.query('commit');
      return result;
    } catch (error) {
      await client.query('rollback');
      throw error;
    }
  };
  return Object.assign(tag, { savepoint });
}
