import { expect, it } from 'vitest';
import { Usual } from './usual.js';

it('is what one in sixteen of the last 64 requests took at least, once sixteen are known', () => {
  const usual = new Usual();
  for (let ms = 1; ms <= 15; ms++) usual.add(ms);
  expect(usual.longestMs).toBeUndefined();
  usual.add(16);
  expect(usual.longestMs).toBe(16);
  for (let ms = 17; ms <= 64; ms++) usual.add(ms);
  expect(usual.longestMs).toBe(61);
  for (let i = 0; i < 64; i++) usual.add(1);
  expect(usual.longestMs).toBe(1);
});
