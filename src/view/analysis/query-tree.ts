/**
 * The tree of a query as Postgres has analyzed it: which function, operator, type and column each expression refers to.
 * It is read from the text form of its nodes (outfuncs.c), whose fields differ from version to version, so any field
 * may be missing.
 */

/** A field: another node, a list, a word without its escapes, or null for none. */
export type Field = QueryNode | readonly Field[] | string | null;

/** A node of the analyzed tree. */
export interface QueryNode {
  /** For example `VAR` or `OPEXPR`. */
  readonly tag: string;
  readonly fields: Readonly<Record<string, Field>>;
}

/** A parenthesis, a brace or a word. A backslash takes the next character as it is. */
const token = /[(){}]|(?:\\[\s\S]|[^\s(){}\\])+/g;

/**
 * Parses a node.
 * @throws Error if the text is not in Postgres's form.
 */
export function parseQueryTree(text: string): QueryNode {
  const tree = parseField(text);
  if (!isNode(tree)) throw new Error('The parse tree from Postgres is not a node');
  return tree;
}

/** Parses a node, or a list of nodes. */
export function parseField(text: string): Field {
  const tokens: readonly string[] = text.match(token) ?? [];
  let at = 0;
  const next = (): string => {
    const word = tokens[at++];
    if (word === undefined) throw new Error('The parse tree from Postgres ends early');
    return word;
  };

  const value = (): Field => {
    const word = next();
    if (word === '{') return node();
    if (word === '(') return list();
    return word === '<>' ? null : plain(word);
  };

  const node = (): QueryNode => {
    const tag = next();
    const fields: Record<string, Field> = {};
    while (tokens[at] !== '}') {
      const name = next().slice(1);
      fields[name] = value();
      // The bytes of a constant follow their count: 4 [ 1 0 0 0 ].
      if (tokens[at] === '[') at = tokens.indexOf(']', at) + 1;
    }
    at++;
    return { tag, fields };
  };

  const list = (): Field[] => {
    const items: Field[] = [];
    while (tokens[at] !== ')') items.push(value());
    at++;
    return items;
  };

  return value();
}

/** Strings in lists are quoted. Postgres breaks lines at spaces, even within a name. */
function plain(word: string): string {
  const bare = word.startsWith('"') && word.endsWith('"') && word.length > 1 ? word.slice(1, -1) : word;
  return bare.replace(/\\([\s\S])/g, (_, escaped: string) => (escaped === '\n' ? ' ' : escaped));
}

export function isNode(field: Field | undefined): field is QueryNode {
  return typeof field === 'object' && field !== null && 'tag' in field;
}

/** Every node of a tree, outermost first. */
export function* queryNodes(field: Field | undefined): Generator<QueryNode> {
  if (isNode(field)) {
    yield field;
    for (const child of Object.values(field.fields)) yield* queryNodes(child);
  } else if (Array.isArray(field)) {
    for (const child of field) yield* queryNodes(child);
  }
}

/** The nodes of a field that is a list; empty if there is none. */
export function nodeList({ fields }: QueryNode, name: string): QueryNode[] {
  return nodesIn(fields[name]);
}

/** The nodes in a list; empty if the field is not a list. */
export function nodesIn(field: Field | undefined): QueryNode[] {
  return Array.isArray(field) ? field.filter(isNode) : [];
}

/** The value of a numeric field: an OID, an index or a place in the text. */
export function numberOf({ fields }: QueryNode, name: string): number | undefined {
  const field = fields[name];
  return typeof field === 'string' && /^-?\d+$/.test(field) ? Number(field) : undefined;
}

/** The names that an entry of a query's range table, and each of its columns, has in that query. */
export function namesOf({ fields: { eref } }: QueryNode): { name: Field | undefined; columns: readonly Field[] } {
  if (!isNode(eref)) return { name: undefined, columns: [] };
  return { name: eref.fields.aliasname, columns: (eref.fields.colnames ?? []) as readonly Field[] };
}

/** Whether two trees are of queries that differ only in aliases and in places in the text. */
export function isSameQuery(one: Field, other: Field): boolean {
  return JSON.stringify(one, withoutNames) === JSON.stringify(other, withoutNames);
}

const named = /^(location|stmt_location|stmt_len|.*list_(start|end)|alias|aliasname)$/;

function withoutNames(field: string, value: unknown): unknown {
  return named.test(field) ? undefined : value;
}

/** The parts of the condition of a full join, or of one that USING makes: comparisons that must all hold. */
export function conjunctsIn(condition: QueryNode): QueryNode[] {
  return condition.tag === 'BOOLEXPR' ? nodeList(condition, 'args') : [condition];
}

/** Whether two references are to the same column of the same query. */
export function isSameVariable(one: QueryNode, other: QueryNode): boolean {
  return ['varno', 'varattno', 'varlevelsup'].every((field) => one.fields[field] === other.fields[field]);
}

const firstUserOID = 16_384;

/** Whether an expression is made by an operator of Postgres's own. */
export function hasOwnOperator(node: QueryNode): boolean {
  return (numberOf(node, 'opno') ?? firstUserOID) < firstUserOID;
}
