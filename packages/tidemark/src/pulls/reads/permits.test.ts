import { expect, it } from 'vitest';
import { silent } from '../../../../../test/support/log.js';
import { Semaphore } from '../../limits/semaphore.js';
import { openWithPermit } from './permits.js';

const caller = { context: { userID: 'u' }, requestID: 'r', log: silent };

it('a permit is released when the opened resource is closed, and when opening or closing it fails', async () => {
  const semaphore = new Semaphore({
    permits: 1,
    maxWaiting: 0,
    maxWaitMs: 1000,
    defaultDurationMs: 100,
    refusal: 'Later',
  });
  let closed = 0;
  const stream = await openWithPermit(semaphore, caller, async () => ({ close: async () => void closed++ }));
  await expect(semaphore.acquire('v')).rejects.toMatchObject({ code: 'too-many-requests' });
  await stream.close();
  expect(closed).toBe(1);
  await expect(openWithPermit(semaphore, caller, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  const failing = { close: () => Promise.reject(new Error('lost')) };
  const broken = await openWithPermit(semaphore, caller, async () => failing);
  await expect(broken.close()).rejects.toThrow('lost');
  await semaphore.acquire('v');
});
