import { expect, it } from 'vitest';
import { isForeign } from './origin.js';

const requestWith = (headers: Record<string, string>) => new Request('http://notes.test/', { method: 'POST', headers });

it.each<Record<string, string>>([
  {},
  { 'Sec-Fetch-Site': 'same-origin' },
  { 'Sec-Fetch-Site': 'none' },
  { 'Sec-Fetch-Site': 'same-origin', Origin: 'https://behind-a-proxy.test' },
  { Origin: 'http://notes.test' },
  { Origin: 'https://notes.test' },
  { Origin: 'https://app.test:8443', Host: 'app.test:8443' },
])('a request without an origin or from its own site is not foreign: %j', (headers) => {
  expect(isForeign(requestWith(headers))).toBe(false);
});

it.each<Record<string, string>>([
  { 'Sec-Fetch-Site': 'cross-site' },
  { 'Sec-Fetch-Site': 'same-site' },
  { 'Sec-Fetch-Site': 'cross-site', Origin: 'http://notes.test' },
  { 'Sec-Fetch-Site': '' },
  { Origin: 'null' },
  { Origin: '' },
  { Origin: 'https://evil.test' },
  { Origin: 'https://notes.test.evil.test' },
  { Origin: 'https://a.notes.test' },
  { Origin: 'http://notes.test:8080' },
  { Origin: 'capacitor://notes.test' },
  { Origin: 'https://notes.test', Host: 'app.test' },
  { Origin: 'https://public.test', 'X-Forwarded-Host': 'public.test' },
])('a request from a page of another origin is foreign: %j', (headers) => {
  expect(isForeign(requestWith(headers))).toBe(true);
});
