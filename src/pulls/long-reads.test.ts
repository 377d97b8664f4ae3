import { expect, it } from 'vitest';
import { silent } from '../../test/support/log.js';
import { Gate } from '../limits/gate.js';
import { openInPlace } from './long-reads.js';

const caller = { context: { userID: 'u' }, requestID: 'r', log: silent };

it('a place is given back when what was opened is closed, and when it fails', async () => {
  const gate = new Gate({
    places: 1,
    mostWaiting: 0,
    longestWaitMs: 1000,
    usualMs: 100,
    refusal: 'Later',
  });
  let closed = 0;
  const stream = await openInPlace(gate, caller, async () => ({ close: async () => void closed++ }));
  await expect(gate.enter('v')).rejects.toMatchObject({ code: 'too-many-requests' });
  await stream.close();
  expect(closed).toBe(1);
  await expect(openInPlace(gate, caller, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  const failing = { close: () => Promise.reject(new Error('lost')) };
  const broken = await openInPlace(gate, caller, async () => failing);
  await expect(broken.close()).rejects.toThrow('lost');
  await gate.enter('v');
});
