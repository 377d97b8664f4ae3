/** Explains a server's refusals to the user of a command. */

/** The exit codes; 2 is for a wrong command line. */
export const success = 0;
export const failure = 1;
export const temporaryFailure = 3;

/** The fields of a JSON object; undefined if a text is not a JSON object. */
export type Fields = Readonly<Record<string, unknown>> | undefined;

export function objectIn(text: string): Fields {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

export function exitCodeOf(status: number, answer: Fields): number {
  if (status === 409) return answer?.code === 'idempotency-key-in-flight' ? temporaryFailure : failure;
  return [429, 502, 503, 504].includes(status) ? temporaryFailure : failure;
}

/** Returns why a request was refused: a summary, a line for each issue, and one for the mutator's details. */
export function refusalOf({ status }: Response, answer: Fields): string[] {
  const { detail, code, requestID, issues, details } = answer ?? {};
  if (typeof detail !== 'string') return [`The server answered with status ${status} and gave no reason.`];
  const facts = [status, code, status >= 500 && typeof requestID === 'string' && `request ${requestID}`];
  const lines = Array.isArray(issues) ? issues.map(describeIssue) : [];
  const more = details === undefined ? [] : [`details: ${JSON.stringify(details)}`];
  return [`${detail} (${facts.filter(Boolean).join(', ')})`, ...lines, ...more];
}

function describeIssue(issue: unknown): string {
  const { path, message } = { ...(issue as { path?: unknown; message?: unknown }) };
  const where = Array.isArray(path) ? path.map(String).join('.') : String(path ?? '');
  return where === '' ? String(message) : `${where}: ${message}`;
}

/** Returns why `fetch` failed. The error's cause has the reason, or a list for a host with several addresses. */
export function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  const parts: unknown[] = cause instanceof AggregateError ? cause.errors : [cause];
  return parts.map((part) => (part instanceof Error ? part.message : String(part))).join('; ');
}

/** Removes control characters, so that text from a server cannot control the terminal. */
export function harmless(line: string): string {
  return line.replace(/\p{Cc}+/gu, ' ');
}
