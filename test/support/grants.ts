/** What the documentation has the owner grant to a server's role. */
import { readFileSync } from 'node:fs';

const operations = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8');

/** The blocks of SQL under "Roles": the rights in Tidemark's schema, and those on a table called todo. */
export const grants: readonly string[] = [
  ...operations
    .split('## Roles')[1]!
    .split('\n## ')[0]!
    .matchAll(/```sql\n(.*?)```/gs),
].map((block) => block[1]!);
