/** Explains a program's failure to the person who started it. */
import { codeOf, isTransient } from './db/sqlstate.js';

/** Returns the text to print for a failure: a sentence if the user can fix the cause, otherwise the stack. */
export function explainFailure(thrown: unknown): string {
  if (!(thrown instanceof Error)) return `Failed: ${String(thrown)}`;
  // Not by `instanceof`: the configuration file may have loaded another copy of this library.
  if (thrown.name === 'SetupError') return thrown.message;
  const code = codeOf(thrown);
  if (code === 'EADDRINUSE') return `${thrown.message}. Stop the program that uses it, or set PORT to another port.`;
  if (code === 'EACCES' && 'port' in thrown) return `${thrown.message}. Set PORT to a port above 1023.`;
  if (code === '42501') return `The database role lacks a privilege: ${thrown.message}.`;
  if (code?.startsWith('28') || code === '3D000') return `Cannot connect to the database: ${thrown.message}.`;
  if (isTransient(thrown)) return `Cannot reach the database: ${reasonOf(thrown)}.`;
  return thrown.stack ?? thrown.message;
}

/** Returns an error's message. Node's error for a host with several addresses has its messages in its parts. */
function reasonOf(error: Error): string {
  const parts = error instanceof AggregateError ? error.errors : [error];
  return parts.map((part: unknown) => (part instanceof Error ? part.message : String(part))).join('; ');
}
