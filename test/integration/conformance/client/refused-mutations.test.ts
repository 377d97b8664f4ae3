/** The real client, unmodified but for a field in its pulls, learns of refusals; without the field it notices nothing. */
import type { Puller } from 'replicache';
import { expect, it } from 'vitest';
import { mutators } from '../../../../examples/tasks/src/mutators.js';
import { MutatorError } from '../../../../src/errors.js';
import { defineMutator } from '../../../../src/registry/mutators.js';
import type { TestClient } from './client.js';
import { useFixture } from './fixture.js';

const close = defineMutator(() => {
  throw new MutatorError('The list is closed');
});

const fixture = useFixture({ mutators: new Map([...mutators, ['close', close]]) });

const moreMutators = { close: (tx: { set(key: string, value: string): Promise<void> }) => tx.set('list/x', 'closed') };

/** Sends what the client would send, and one field more. */
const asking =
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

/** All that a client holds: `entries` leaves refusals out. */
const held = ({ rep }: TestClient) =>
  rep.query(async (tx) => Object.fromEntries(await tx.scan().entries().toArray()) as Record<string, unknown>);

it('a client that asks has the refusal when its optimistic change goes', async () => {
  const ann = fixture.client('ann', { moreMutators, puller: asking('ann') });
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
  expect(await held(ann)).toMatchObject({ [key]: value });
  expect(seen).toContainEqual(['list/x']);
  expect(seen.at(-1)).toEqual([key]);
});

it.runIf(process.env.TIDEMARK_TEST_ENGINE === 'replicache')(
  'a client that does not ask holds what it held before',
  async () => {
    const ann = fixture.client('ann', { moreMutators });
    await (ann.rep.mutate as Record<string, () => Promise<void>>).close!();
    await ann.settle();
    expect(await held(ann)).toEqual({});
  },
);
