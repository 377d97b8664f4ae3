import { useView } from '@tidemark/client/react';
import { accounts } from '../../src/accounts.js';
import { useClient } from './client.js';
import { CrossIcon, PeopleIcon, PlusIcon } from './icons.js';

/** Lets the owner choose whom to share a list with. */
export function Sharing({ listID, owner }: { listID: string; owner: string }) {
  const client = useClient();
  const { share, unshare } = client.mutate.list;
  const { rows: shares } = useView(client, 'share', { by: 'listID', equals: listID });
  const sharedWith = new Set(shares?.map(({ userID }) => userID));
  const others = [...new Set([...accounts, ...sharedWith])].filter((account) => account !== owner);
  return (
    <section className="sharing" aria-label="Sharing">
      <PeopleIcon />
      {others.map((userID) =>
        sharedWith.has(userID) ? (
          <button key={userID} type="button" className="chip on" onClick={() => unshare({ listID, userID })}>
            Stop sharing with {userID}
            <CrossIcon />
          </button>
        ) : (
          <button key={userID} type="button" className="chip" onClick={() => share({ listID, userID })}>
            Share with {userID}
            <PlusIcon />
          </button>
        ),
      )}
    </section>
  );
}
