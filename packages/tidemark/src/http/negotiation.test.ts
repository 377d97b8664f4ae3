import { describe, expect, it } from 'vitest';
import { entityTagsIn, preferenceOf, preferredType } from './negotiation.js';

const types = ['application/json', 'application/x-ndjson', 'text/event-stream'] as const;

describe('the media type', () => {
  it.each<[accept: string | null, type: string]>([
    [null, 'application/json'],
    ['', 'application/json'],
    ['*/*', 'application/json'],
    ['application/*', 'application/json'],
    ['application/json', 'application/json'],
    ['application/x-ndjson', 'application/x-ndjson'],
    ['Application/X-NDJSON; charset=utf-8', 'application/x-ndjson'],
    ['text/event-stream', 'text/event-stream'],
    ['text/*', 'text/event-stream'],
    ['application/json;q=0.5, application/x-ndjson', 'application/x-ndjson'],
    ['application/json ; q=0.5 , */*; q=0.6', 'application/x-ndjson'],
    ['application/json;q=0, */*', 'application/x-ndjson'],
    ['text/html, application/xhtml+xml, */*;q=0.8', 'application/json'],
    ['text/event-stream;q=0.9, application/json', 'application/json'],
    ['image/png', 'application/json'],
    ['application/json;q=x', 'application/json'],
  ])('for %j is %s', (accept, type) => {
    expect(preferredType(accept, types)).toBe(type);
  });
});

describe('a preference', () => {
  it.each<[prefer: string | undefined, value: string | undefined]>([
    [undefined, undefined],
    ['', undefined],
    ['wait=30', '30'],
    ['Wait = 30', '30'],
    ['wait="30"', '30'],
    ['wait=30; x=1', '30'],
    ['respond-async, wait=30', '30'],
    ['tx=rollback', undefined],
    ['await=30', undefined],
    ['wait', ''],
    ['wait=', ''],
    ['wait=1, wait=2', '1'],
  ])('in %j is %j', (prefer, value) => {
    expect(preferenceOf(new Headers(prefer === undefined ? {} : { Prefer: prefer }), 'wait')).toBe(value);
  });
});

describe('the entity tags', () => {
  it.each<[header: string | null, opaque: string[], text?: string[]]>([
    [null, []],
    ['', []],
    ['"a"', ['a'], ['"a"']],
    ['W/"a"', ['a'], ['W/"a"']],
    ['"a", W/"b" ,"c,d"', ['a', 'b', 'c,d']],
    ['*', ['*'], ['*']],
    ['"*"', ['*']],
    ['a', []],
    ['"a', []],
    ['""', ['']],
    ['"a b"', []],
  ])('in %j are %j', (header, opaque, text) => {
    const tags = entityTagsIn(header);
    expect(tags.map((tag) => tag.opaque)).toEqual(opaque);
    if (text) expect(tags.map((tag) => tag.text)).toEqual(text);
  });
});
