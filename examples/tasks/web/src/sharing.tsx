import { accounts } from '../../src/accounts.js';
import type { List } from '../../src/views.js';
import type { Client } from './client.js';
import { CrossIcon, PeopleIcon, PlusIcon } from './icons.js';
import { useShares } from './use-client-view.js';

/** Lets the owner choose whom to share a list with. */
export function Sharing({ client, list: { id: listID } }: { client: Client; list: List }) {
  const { rep, user } = client;
  const sharedWith = useShares(client, listID);
  const others = [...new Set([...accounts, ...sharedWith])].filter((account) => account !== user);
  return (
    <section className="sharing" aria-label="Sharing">
      <PeopleIcon />
      {others.map((userID) =>
        sharedWith.includes(userID) ? (
          <button
            key={userID}
            type="button"
            className="chip on"
            onClick={() => rep.mutate['list.unshare']({ listID, userID })}
          >
            Stop sharing with {userID}
            <CrossIcon />
          </button>
        ) : (
          <button
            key={userID}
            type="button"
            className="chip"
            onClick={() => rep.mutate['list.share']({ listID, userID })}
          >
            Share with {userID}
            <PlusIcon />
          </button>
        ),
      )}
    </section>
  );
}
