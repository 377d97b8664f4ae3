import type { ColumnType, Generated } from 'kysely';

export interface Tables {
  list: { id: string; ownerId: string; name: string };
  todo: {
    id: string;
    listId: string;
    title: string;
    done: Generated<boolean>;
    dueAt: Date | string | null;
    // The form in which clients receive them: numbers, or text if a number cannot hold them.
    price: number | string | null;
    visits: ColumnType<number | string, never, number | string>;
  };
}
