/** The real client, unmodified but for a field in its pulls, receives refusals. Without the field, nothing changes. */
import type { Puller } from 'replicache';
import { expect, it } from 'vitest';
import { mutators } from '../../../../examples/tasks/src/mutators.js';
import { MutatorError } from '../../../../packages/tidemark/src/errors.js';
import { defineMutator } from '../../../../packages/tidemark/src/registry/mutators.js';
import type { TestClient } from './client.js';
import { useFixture } from './fixture.js';

const close = defineMutator(() => {
  throw new MutatorError('The list is closed');
});

const fixture = useFixture({ mutators: new Map([...mutators, ['close', close]]) });

const moreMutators = { close: (tx: { set(key: string, value: string): Promise<void> }) => tx.set('list/x', 'closed') };

/** Sends what the client would send, plus one field. */
const requesting =
  (user: string): Puller =>
  async (body) => {
    const response = await fetch(`${fixture.server.url}/sync/pull`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${user}` },
      body: JSON.stringify({ ...body, refused: true }),
    });
    const httpRequestInfo = { httpStatusCode: response.status, errorMessage: '' };
    return response.ok ? { response: await response.json(), httpRequestInfo } : { httpRequestInfo };
  };

/** Everything that a client holds, including refusals, which `entries` leaves out. */
const allEntries = ({ rep }: TestClient) =>
  rep.query(async (tx) => Object.fromEntries(await tx.scan().entries().toArray()) as Record<string, unknown>);

it('a client that requests refusals has one as soon as its optimistic change disappears', async () => {
  const ann = fixture.client('ann', { moreMutators, puller: requesting('ann') });
  const seen: string[][] = [];
  ann.rep.subscribe(async (tx) => (await tx.scan().keys().toArray()) as string[], {
    onData: (keys) => void seen.push(keys),
  });
  const clientID = ann.rep.clientID;
  await (ann.rep.mutate as Record<string, () => Promise<void>>).close!();
  expect(await ann.keys()).toEqual(['list/x']);
  await ann.settle();
  const key = `tidemark/refused/${clientID}/1`;
  const value = { clientID, mutationID: 1, name: 'close', code: 'mutator-error', detail: 'The list is closed' };
  expect(await allEntries(ann)).toMatchObject({ [key]: value });
  expect(seen).toContainEqual(['list/x']);
  expect(seen.at(-1)).toEqual([key]);
});

it.runIf(process.env.TIDEMARK_TEST_ENGINE === 'replicache')(
  'a client that does not request refusals receives none',
  async () => {
    const ann = fixture.client('ann', { moreMutators });
    await (ann.rep.mutate as Record<string, () => Promise<void>>).close!();
    await ann.settle();
    expect(await allEntries(ann)).toEqual({});
  },
);
