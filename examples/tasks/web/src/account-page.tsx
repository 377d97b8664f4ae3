import { accounts } from '../../src/accounts.js';
import { AccountSwitch } from './account-switch.js';
import { useQuery } from './address.js';
import { PageHeader } from './page-header.js';
import { Panel } from './panel.js';

/** The application for one account. */
export function AccountPage() {
  const named = useQuery().get('user');
  const user = accounts.find((account) => account === named) ?? accounts[0]!;
  return (
    <div className="page">
      <PageHeader link={{ href: '/side-by-side', text: 'Side by side' }}>
        <AccountSwitch user={user} />
      </PageHeader>
      <main className="panels">
        <Panel key={user} user={user} listParameter="list" />
      </main>
    </div>
  );
}
