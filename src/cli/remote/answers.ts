/** What a server's refusals mean to whoever runs a command. */

/** The exit codes; 2 is for a wrong command line. */
export const done = 0;
export const failed = 1;
export const mayPass = 3;

/** The fields of a JSON object; undefined if it is none. */
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
  if (status === 409) return answer?.code === 'idempotency-key-in-flight' ? mayPass : failed;
  return [429, 502, 503, 504].includes(status) ? mayPass : failed;
}

/** Why a request was refused: a summary, then a line for each issue, then one for the mutator's details. */
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

/** The reason is in the cause of fetch's error; for a host with several addresses, in a list of errors. */
export function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  const parts: unknown[] = cause instanceof AggregateError ? cause.errors : [cause];
  return parts.map((part) => (part instanceof Error ? part.message : String(part))).join('; ');
}

/** What a server sends must not be able to control the terminal. */
export function harmless(line: string): string {
  return line.replace(/\p{Cc}+/gu, ' ');
}
