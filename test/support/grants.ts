/** The grants of the owner to a server's role, from the documentation. */
import { readFileSync } from 'node:fs';

const operations = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8');

/** The blocks of SQL under "Roles": the rights on Tidemark's schema, and those on a table called todo. */
export const grants: readonly string[] = [
  ...operations
    .split('## Roles')[1]!
    .split('\n## ')[0]!
    .matchAll(/```sql\n(.*?)```/gs),
].map((block) => block[1]!);
