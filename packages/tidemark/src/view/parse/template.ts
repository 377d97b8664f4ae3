/** SQL text with placeholders for its parameters' values. */
import { parseStatement } from './syntax.js';
import { visits } from './tree.js';

/** SQL text cut at its parameters: text[0] $params[0] text[1] $params[1] … */
export interface Template {
  readonly text: readonly string[];
  readonly params: readonly number[];
}

/** Cuts a SELECT at its parameters. The parser finds them, so those in quotes and comments do not count. */
export function toTemplate(input: string): Template {
  const { select, text } = parseStatement(input);
  const bytes = Buffer.from(text);
  const refs = [...visits(select)]
    .filter((visit) => visit.type === 'ParamRef')
    .map(({ node }) => ({ start: node.location as number, number: node.number as number }))
    .sort((a, b) => a.start - b.start);
  const pieces: string[] = [];
  let from = 0;
  for (const ref of refs) {
    pieces.push(bytes.toString('utf8', from, ref.start));
    from = ref.start + 1 + String(ref.number).length;
  }
  pieces.push(bytes.toString('utf8', from));
  return { text: pieces, params: refs.map((ref) => ref.number) };
}

/**
 * Fills a template with expressions, one per parameter number from 1. Each is its own token, whatever is next to it.
 */
export function render(template: Template, values: readonly string[]): string {
  return template.text.reduce((out, piece, i) => `${out} (${values[template.params[i - 1]! - 1]!})${piece}`);
}
