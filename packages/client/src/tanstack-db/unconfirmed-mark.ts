/**
 * Marks rows with unconfirmed effects, in the field from which TanStack DB takes `$synced` and `$hasPendingWrites`.
 * Otherwise, TanStack DB derives both from its own transactions, which end earlier.
 */
const mark = { $synced: false };

export function withMark<Row extends object>(row: Row): Row {
  return { ...row, ...mark };
}

export function withoutMark<Row extends object>(row: Row): Row {
  const { $synced: _, ...fields } = row as Row & Partial<typeof mark>;
  return fields as Row;
}
