/** The grants of the owner to a server's role, from the documentation. */
import { readFileSync } from 'node:fs';

const page = readFileSync(new URL('../../docs/operations/roles.md', import.meta.url), 'utf8');

/** The blocks of SQL: the rights on Tidemark's schema, and those on a table called todo. */
export const grants: readonly string[] = [...page.matchAll(/```sql\n(.*?)```/gs)].map((block) => block[1]!);
