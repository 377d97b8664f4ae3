import type { Client } from '@tidemark/client';
import { useStatus } from '@tidemark/client/react';
import { useEffect, useState } from 'react';
import { ClientProvider, openClient, useClient } from './client.js';
import { Lists } from './lists.js';
import type { Mutators, Views } from './mutators.js';
import { Notices } from './notices.js';
import { PanelBar } from './panel-bar.js';
import { type Deletion, SignedOut } from './signed-out.js';

interface PanelProps {
  readonly user: string;
  /** The query parameter that names the list that is shown. */
  readonly listParameter: string;
  readonly title?: string;
}

/** The whole application for one user, whose client is open while it is shown. The data stays in the browser. */
export function Panel(props: PanelProps) {
  const { user } = props;
  const [client, setClient] = useState<Client<Mutators, Views>>();
  useEffect(() => {
    const opened = openClient(user);
    setClient(opened);
    return () => {
      setClient(undefined);
      void opened.close();
    };
  }, [user]);
  return (
    <div className="panel">
      {client && (
        <ClientProvider client={client}>
          <Session {...props} />
        </ClientProvider>
      )}
    </div>
  );
}

function Session({ user, listParameter, title }: PanelProps) {
  const client = useClient();
  const { state } = useStatus(client);
  const [deletion, setDeletion] = useState<Deletion>('elsewhere');
  const signOut = () => {
    setDeletion('running');
    client.signOut().then(
      () => setDeletion('done'),
      () => setDeletion('failed'),
    );
  };
  return (
    <>
      <PanelBar title={title} onSignOut={signOut} />
      {state === 'closed' ? (
        <SignedOut user={user} deletion={deletion} onRetry={signOut} />
      ) : (
        <>
          <Notices />
          <Lists user={user} listParameter={listParameter} />
        </>
      )}
    </>
  );
}
