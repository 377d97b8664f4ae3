import { accounts } from '../../src/accounts.js';
import { addressWith, goTo } from './address.js';

export function AccountSwitch({ user }: { user: string }) {
  return (
    <div className="segments" role="radiogroup" aria-label="Account">
      {accounts.map((account) => (
        <label key={account}>
          <input
            type="radio"
            name="account"
            checked={account === user}
            onChange={() => goTo(addressWith({ user: account, list: null }))}
          />
          <span>{account}</span>
        </label>
      ))}
    </div>
  );
}
