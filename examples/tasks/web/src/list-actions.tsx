import { useClient } from './client.js';
import { Confirmed } from './confirmed.js';

/** An owner's actions on a whole list. */
export function ListActions({ listID }: { listID: string }) {
  const { mutate } = useClient();
  return (
    <div className="actions">
      <button type="button" className="quiet" onClick={() => mutate.list.fill({ listID, count: 10_000 })}>
        Add 10,000 todos
      </button>
      <Confirmed
        label="Delete list"
        question="Delete this list and all its todos?"
        yes="Yes, delete list"
        no="Keep it"
        onConfirmed={() => mutate.list.delete({ id: listID })}
      />
    </div>
  );
}
