import type { BrowserContext, Request } from 'playwright-core';

/** The network requests and the complaints of a browser profile's pages. */
export interface Watch {
  /** All problems: complaints of a page, failed requests, requests to another origin. */
  problems(): string[];
  /** Allows a problem that a test causes on purpose. */
  allow(pattern: RegExp): void;
  requestsTo(path: string): Request[];
}

/**
 * Clients abort their requests when they are closed or go offline, or when their page goes away. Each stream of pokes
 * starts with a pull, so one can be in flight at any time.
 */
const aborted = /\/sync\/(poke\?.*|pull) net::ERR_ABORTED$/;

/** Watches all pages of a profile, from before they load. */
export function watch(context: BrowserContext, origin: string): Watch {
  const problems: string[] = [];
  const allowed = [aborted];
  const requests: Request[] = [];
  context.on('console', (message) => {
    // Includes violations of the content security policy.
    if (message.type() === 'error' || message.type() === 'warning') {
      problems.push(`${message.type()}: ${message.text()} (${message.location().url})`);
    }
  });
  context.on('weberror', (error) => problems.push(`page error: ${error.error().stack}`));
  context.on('request', (request) => {
    requests.push(request);
    const { protocol, origin: target } = new URL(request.url());
    if (target !== origin && protocol !== 'data:' && protocol !== 'blob:') {
      problems.push(`another origin: ${request.url()}`);
    }
  });
  context.on('requestfailed', (request) =>
    problems.push(`failed: ${request.method()} ${request.url()} ${request.failure()?.errorText}`),
  );
  context.on('response', (response) => {
    if (response.status() >= 400) {
      problems.push(`${response.status()}: ${response.request().method()} ${response.url()}`);
    }
  });
  return {
    problems: () => problems.filter((problem) => !allowed.some((pattern) => pattern.test(problem))),
    allow: (pattern) => void allowed.push(pattern),
    requestsTo: (path) => requests.filter((request) => new URL(request.url()).pathname === path),
  };
}
