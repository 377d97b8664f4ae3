import type { StandardSchemaV1 } from '@standard-schema/spec';

/** A validator's objection, as reported to the caller. */
export interface CallIssue {
  /** The keys and indexes that lead from the args to the value; empty for the args as a whole. */
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** The maximum number of issues that are reported to a caller. */
const maxIssues = 100;
/**
 * The maximum number of characters in the paths of all issues, except that the first issue is always reported. A long
 * key that was sent once occurs in the path of every issue below it.
 */
const maxPathLength = 65_536;

/** Replaces quotes from the args in a validator's message: the args may contain a secret, or a script. */
const withheld = '…';

/** Replaces a message about a value that has too many parts to search for, or takes too long to search for. */
const unspecific = 'Invalid value';
/** The maximum number of texts to search for in a message. */
const maxRenderings = 1_000;
/** The maximum number of parts of a value that are inspected. */
const maxParts = 10_000;
/** The maximum number of texts to search for, times the length of the message. */
const maxSearch = 1_000_000;

/** Returns the first issues that a validator found in args. The messages do not quote the args. */
export function toIssues(issues: readonly StandardSchemaV1.Issue[], args: unknown): CallIssue[] {
  const callIssues: CallIssue[] = [];
  let lengthLeft = maxPathLength;
  for (const issue of issues.slice(0, maxIssues)) {
    const path = pathOf(issue);
    lengthLeft -= path.join('.').length;
    if (callIssues.length > 0 && lengthLeft < 0) break;
    const texts = renderings(valueAt(args, path));
    const isFeasible = texts && texts.size * issue.message.length <= maxSearch;
    callIssues.push({ path, message: isFeasible ? withhold(issue.message, texts) : unspecific });
  }
  return callIssues;
}

/** Returns the keys and indexes that lead to the value that an issue is about. */
export function pathOf({ path = [] }: StandardSchemaV1.Issue): (string | number)[] {
  // With a validator's own subclass of Array, `path.map` would return an instance of that subclass.
  return Array.from(path, (segment) => {
    const key = typeof segment === 'object' ? segment.key : segment;
    return typeof key === 'number' ? key : String(key);
  });
}

function valueAt(args: unknown, path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>(
    (value, key) =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, key)
        ? (value as Record<string | number, unknown>)[key]
        : undefined,
    args,
  );
}

/** Returns the texts by which a message could quote a value or a part of it; undefined if there are too many. */
function renderings(value: unknown): Set<string> | undefined {
  const texts = new Set<string>();
  // Not recursive: a value may be nested so deeply that this would overflow the stack.
  const parts = [value];
  for (const part of parts) {
    if (typeof part === 'string') {
      texts.add(part);
      texts.add(JSON.stringify(part).slice(1, -1));
    } else if (typeof part === 'number') {
      texts.add(String(part));
    } else if (typeof part === 'object' && part !== null) {
      const children: unknown[] = Array.isArray(part) ? part : Object.entries(part).flat();
      if (parts.length + children.length > maxParts) return undefined;
      parts.push(...children);
    }
    if (texts.size > maxRenderings) return undefined;
  }
  texts.delete('');
  return texts;
}

/**
 * Withholds these texts from a message. Replaces longer texts first: otherwise, replacing a part of a text would leave
 * the rest of it. Replaces only whole words, so that "a" does not empty a sentence.
 */
function withhold(message: string, texts: ReadonlySet<string>): string {
  const found = [...texts].filter((text) => message.includes(text)).sort((a, b) => b.length - a.length);
  return found.reduce(withholdOne, message);
}

const beginsInWord = /^[\p{L}\p{N}_]/u;
const endsInWord = /[\p{L}\p{N}_]$/u;

/** Uses no regular expression for each text, because compiling hundreds of them takes seconds. */
function withholdOne(message: string, text: string): string {
  let result = '';
  let from = 0;
  for (let at = message.indexOf(text); at !== -1; ) {
    const end = at + text.length;
    const isWord =
      !endsInWord.test(message.slice(Math.max(0, at - 2), at)) && !beginsInWord.test(message.slice(end, end + 2));
    if (isWord) {
      result += message.slice(from, at) + withheld;
      from = end;
    }
    at = message.indexOf(text, isWord ? end : at + 1);
  }
  return result + message.slice(from);
}
