import { accounts } from '../../src/accounts.js';
import { PageHeader } from './page-header.js';
import { Panel } from './panel.js';

/** Two accounts in one window, each with its own client. */
export function SideBySidePage() {
  return (
    <div className="page">
      <PageHeader link={{ href: '/', text: 'One account' }} />
      <main className="panels">
        {accounts.slice(0, 2).map((user) => (
          <section key={user} className="side" aria-label={user}>
            <Panel user={user} listParameter={user} title={user} />
          </section>
        ))}
      </main>
    </div>
  );
}
