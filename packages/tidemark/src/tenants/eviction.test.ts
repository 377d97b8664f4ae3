import { expect, it } from 'vitest';
import { idleTenants, leastRecentlyUsed } from './eviction.js';

const openTenant = (name: string, usedAt: number, isBusy = false) => ({ name, usedAt, isBusy });
const openTenants = [openTenant('a', 30), openTenant('b', 10, true), openTenant('c', 20), openTenant('d', 90)];
const namesOf = (tenants: readonly { readonly name: string }[]) => tenants.map(({ name }) => name);

it('closes tenants that have been idle long enough, but no busy ones', () => {
  expect(namesOf(idleTenants(openTenants, 100, 70))).toEqual(['a', 'c']);
  expect(namesOf(idleTenants(openTenants, 100, 71))).toEqual(['c']);
  expect(namesOf(idleTenants(openTenants, 100, 200))).toEqual([]);
});

it('closes the tenant that has been idle the longest to make room for another', () => {
  expect(leastRecentlyUsed(openTenants)?.name).toBe('c');
  expect(leastRecentlyUsed([openTenant('a', 1, true), openTenant('b', 2, true)])).toBeUndefined();
  expect(leastRecentlyUsed([])).toBeUndefined();
});
