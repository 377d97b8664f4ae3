/** A page of the unmodified Replicache client. It shows a user's lists and the state of the client. */

import { connectPokes } from '@tidemark/client/poke';
import { Replicache, type WriteTransaction } from 'replicache';
import type { ArgsOf } from 'tidemark';
import type { mutators } from '../../../examples/tasks/src/mutators.js';
import type { List } from '../../support/whole-views.js';

type Args = ArgsOf<typeof mutators>;

declare global {
  interface Window {
    createList: (list: Args['list.create']) => Promise<void>;
  }
}

const user = new URLSearchParams(location.search).get('user')!;
const rep = new Replicache({
  name: user,
  auth: `Bearer ${user}`,
  pullURL: '/sync/pull',
  pushURL: '/sync/push',
  logLevel: 'error',
  mutators: {
    'list.create': (tx: WriteTransaction, { id, name }: Args['list.create']) =>
      tx.set(`list/${id}`, { id, name, ownerID: user }),
  },
});
connectPokes(rep);

const show = async () => {
  const pending = (await rep.experimentalPendingMutations()).length;
  document.querySelector('output')!.textContent = `${rep.online ? 'online' : 'offline'} ${pending}`;
};
rep.onSync = show;
rep.onOnlineChange = show;
rep.experimentalWatch(show);
rep.subscribe((tx) => tx.scan<List>({ prefix: 'list/' }).values().toArray(), {
  onData: (lists) =>
    document.querySelector('ul')!.replaceChildren(
      ...lists.map(({ name }) => {
        const item = document.createElement('li');
        item.textContent = name;
        return item;
      }),
    ),
});
window.createList = rep.mutate['list.create'];
