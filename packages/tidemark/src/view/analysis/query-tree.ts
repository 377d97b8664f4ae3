/**
 * The tree of a query as Postgres has analyzed it: the function, operator, type and column that each expression refers
 * to. It is parsed from the text of Postgres's nodes (outfuncs.c). Their fields differ between versions, so any field
 * may be missing.
 */

/** A field: another node, a list, an unescaped word, or null for none. */
export type Field = QueryNode | readonly Field[] | string | null;

/** A node of the analyzed tree. */
export interface QueryNode {
  /** For example, `VAR` or `OPEXPR`. */
  readonly tag: string;
  readonly fields: Readonly<Record<string, Field>>;
}

/** A parenthesis, a brace or a word. A backslash escapes the next character. */
const token = /[(){}]|(?:\\[\s\S]|[^\s(){}\\])+/g;

/**
 * Parses a node.
 * @throws Error if the text is not Postgres's text of a node.
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
      // A constant is a byte count followed by the bytes: 4 [ 1 0 0 0 ].
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

/** Unquotes strings of lists, and unescapes words. Postgres breaks lines at spaces, even within a name. */
function plain(word: string): string {
  const bare = word.startsWith('"') && word.endsWith('"') && word.length > 1 ? word.slice(1, -1) : word;
  return bare.replace(/\\([\s\S])/g, (_, escaped: string) => (escaped === '\n' ? ' ' : escaped));
}

export function isNode(field: Field | undefined): field is QueryNode {
  return typeof field === 'object' && field !== null && 'tag' in field;
}

/** Yields every node of a tree, outermost first. */
export function* queryNodes(field: Field | undefined): Generator<QueryNode> {
  if (isNode(field)) {
    yield field;
    for (const child of Object.values(field.fields)) yield* queryNodes(child);
  } else if (Array.isArray(field)) {
    for (const child of field) yield* queryNodes(child);
  }
}

/** Returns the nodes of a field that is a list; empty if there is none. */
export function nodeList({ fields }: QueryNode, name: string): QueryNode[] {
  return nodesIn(fields[name]);
}

/** Returns the nodes in a list; empty if the field is not a list. */
export function nodesIn(field: Field | undefined): QueryNode[] {
  return Array.isArray(field) ? field.filter(isNode) : [];
}

/** Returns the value of a numeric field: an OID, an index or a location in the text. */
export function numberOf({ fields }: QueryNode, name: string): number | undefined {
  const field = fields[name];
  return typeof field === 'string' && /^-?\d+$/.test(field) ? Number(field) : undefined;
}

/** Returns the names that an entry of a query's range table and its columns have in that query. */
export function namesOf({ fields: { eref } }: QueryNode): { name: Field | undefined; columns: readonly Field[] } {
  if (!isNode(eref)) return { name: undefined, columns: [] };
  return { name: eref.fields.aliasname, columns: (eref.fields.colnames ?? []) as readonly Field[] };
}

/** Checks whether two trees belong to queries that differ only in aliases and in locations. */
export function isSameQuery(one: Field, other: Field): boolean {
  return JSON.stringify(one, withoutNames) === JSON.stringify(other, withoutNames);
}

const named = /^(location|stmt_location|stmt_len|.*list_(start|end)|alias|aliasname)$/;

function withoutNames(field: string, value: unknown): unknown {
  return named.test(field) ? undefined : value;
}

/** Splits the condition of a full join, or one that USING makes, into the comparisons that must all hold. */
export function conjunctsIn(condition: QueryNode): QueryNode[] {
  return condition.tag === 'BOOLEXPR' ? nodeList(condition, 'args') : [condition];
}

/** Checks whether two references refer to the same column of the same query. */
export function isSameVariable(one: QueryNode, other: QueryNode): boolean {
  return ['varno', 'varattno', 'varlevelsup'].every((field) => one.fields[field] === other.fields[field]);
}

const firstUserOID = 16_384;

/** Checks whether an expression applies one of Postgres's own operators. */
export function hasOwnOperator(node: QueryNode): boolean {
  return (numberOf(node, 'opno') ?? firstUserOID) < firstUserOID;
}
