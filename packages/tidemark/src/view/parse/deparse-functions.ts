/** Writes JSON and XML functions that have their own syntax. */
import { identifier } from '../../sql.js';
import type { Tree } from './tree.js';

/** Writes a child node. */
type Visit = (node: unknown) => string;

interface JsonValue extends Tree {
  readonly raw_expr: Tree;
}

/** Writes JSON_VALUE, JSON_QUERY and JSON_EXISTS. */
export function jsonQuery(node: Tree, visit: Visit): string {
  const name = (node.op as string).replace('_OP', '');
  const { context_item, pathspec, passing } = node;
  return `${name}(${words(`${jsonValue(context_item, visit)}, ${visit(pathspec)}`, passed(passing, visit), ...ends(node, visit))})`;
}

export function jsonTable(node: Tree, visit: Visit): string {
  const { context_item, pathspec, passing, columns, on_error, lateral, alias } = node;
  const list = columnList(columns, visit);
  const made = words(
    `${jsonValue(context_item, visit)}, ${path(pathspec, visit)}`,
    passed(passing, visit),
    list,
    behavior(on_error, 'ERROR', visit),
  );
  return words(lateral && 'LATERAL', `JSON_TABLE(${made})`, alias && visit({ Alias: alias }));
}

function columnList(columns: unknown, visit: Visit): string {
  const list = columns as readonly { JsonTableColumn: Tree }[];
  return `COLUMNS (${list.map(({ JsonTableColumn: column }) => jsonColumn(column, visit)).join(', ')})`;
}

function jsonColumn(column: Tree, visit: Visit): string {
  const { coltype, name, typeName, pathspec, format, columns } = column;
  if (coltype === 'JTC_NESTED') return words('NESTED PATH', path(pathspec, visit), columnList(columns, visit));
  const named = identifier(name as string);
  if (coltype === 'JTC_FOR_ORDINALITY') return `${named} FOR ORDINALITY`;
  return words(
    named,
    visit({ TypeName: typeName }),
    coltype === 'JTC_EXISTS' && 'EXISTS',
    formatted(format),
    pathspec && `PATH ${path(pathspec, visit)}`,
    // The tree has a wrapper even for an EXISTS column, which cannot have one.
    ...ends(coltype === 'JTC_EXISTS' ? { ...column, wrapper: undefined } : column, visit),
  );
}

/** Returns the last clauses, in the order that the syntax requires. */
function ends({ output, wrapper, quotes, on_empty, on_error }: Tree, visit: Visit): (string | undefined)[] {
  return [
    output ? `RETURNING ${returned(output as Tree, visit)}` : undefined,
    wrappers[wrapper as string],
    quotes === 'JS_QUOTES_KEEP' ? 'KEEP QUOTES' : quotes === 'JS_QUOTES_OMIT' ? 'OMIT QUOTES' : undefined,
    behavior(on_empty, 'EMPTY', visit),
    behavior(on_error, 'ERROR', visit),
  ];
}

const wrappers: Readonly<Record<string, string>> = {
  JSW_NONE: 'WITHOUT WRAPPER',
  JSW_CONDITIONAL: 'WITH CONDITIONAL WRAPPER',
  JSW_UNCONDITIONAL: 'WITH UNCONDITIONAL WRAPPER',
};

function returned({ typeName, returning }: Tree, visit: Visit): string {
  return words(visit({ TypeName: typeName }), formatted((returning as Tree).format));
}

function behavior(clause: unknown, when: string, visit: Visit): string | undefined {
  if (!clause) return undefined;
  const { btype, expr } = clause as { btype: string; expr?: Tree };
  return words(btype.replace('JSON_BEHAVIOR_', '').replace('_', ' '), expr && visit(expr), `ON ${when}`);
}

function jsonValue(value: unknown, visit: Visit): string {
  const { raw_expr, format } = value as JsonValue;
  return words(visit(raw_expr), formatted(format));
}

function formatted(format: unknown): string | undefined {
  const { format_type, encoding } = format as { format_type: string; encoding: string };
  if (format_type === 'JS_FORMAT_DEFAULT') return undefined;
  return words('FORMAT JSON', encoding !== 'JS_ENC_DEFAULT' && `ENCODING ${encoding.replace('JS_ENC_', '')}`);
}

function path(spec: unknown, visit: Visit): string {
  const { string, name } = spec as { string: Tree; name?: string };
  return words(visit(string), name !== undefined && `AS ${identifier(name)}`);
}

function passed(passing: unknown, visit: Visit): string | undefined {
  const list = (passing ?? []) as readonly { JsonArgument: { val: JsonValue; name: string } }[];
  if (list.length === 0) return undefined;
  return `PASSING ${list.map(({ JsonArgument: { val, name } }) => `${jsonValue(val, visit)} AS ${identifier(name)}`).join(', ')}`;
}

export function xmlTable(node: Tree, visit: Visit): string {
  const { lateral, docexpr, rowexpr, namespaces, columns, alias } = node;
  const list = (columns as readonly { RangeTableFuncCol: Tree }[]).map(({ RangeTableFuncCol: column }) =>
    xmlColumn(column, visit),
  );
  const spaces = ((namespaces ?? []) as readonly { ResTarget: Tree }[]).map(({ ResTarget: { name, val } }) =>
    name === undefined ? `DEFAULT ${visit(val)}` : `${visit(val)} AS ${identifier(name as string)}`,
  );
  const named = spaces.length === 0 ? '' : `XMLNAMESPACES(${spaces.join(', ')}), `;
  const made = `XMLTABLE(${named}(${visit(rowexpr)}) PASSING (${visit(docexpr)}) COLUMNS ${list.join(', ')})`;
  return words(lateral && 'LATERAL', made, alias && visit({ Alias: alias }));
}

function xmlColumn(
  { colname, for_ordinality, typeName, is_not_null, colexpr, coldefexpr }: Tree,
  visit: Visit,
): string {
  const named = identifier(colname as string);
  if (for_ordinality) return `${named} FOR ORDINALITY`;
  return words(
    named,
    visit({ TypeName: typeName }),
    colexpr && `PATH (${visit(colexpr)})`,
    coldefexpr && `DEFAULT (${visit(coldefexpr)})`,
    is_not_null && 'NOT NULL',
  );
}

function words(...parts: readonly unknown[]): string {
  return parts.filter(Boolean).join(' ');
}
