import { baseSnapshotFromCommit, commitFromHead, type DiffConfig, diffCommits, type Store, withRead } from '#engine';

const entriesOnly: DiffConfig = { shouldComputeDiffs: () => true, shouldComputeDiffsForIndex: () => false };

/** The keys at which the data here differs from what the server has sent. */
export function unconfirmedKeys(store: Store): Promise<ReadonlySet<string>> {
  return withRead(store, async (read) => {
    const now = await commitFromHead('main', read);
    const diffs = await diffCommits(await baseSnapshotFromCommit(now, read), now, read, entriesOnly, 7);
    return new Set(diffs.get('')?.map(({ key }) => key));
  });
}
