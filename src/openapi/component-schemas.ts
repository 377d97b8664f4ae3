import type { Side } from './converters.js';
import { UniqueNames } from './names.js';
import { walkSchema } from './schema-walk.js';
import type { Reference, Schema, SchemaObject } from './types.js';

/** The document's `components/schemas`: where schemas are put together with the definitions that they bring along. */
export class ComponentSchemas {
  readonly #schemas = new Map<string, Schema>();
  readonly #names: UniqueNames;
  /** The names of shared definitions, by what they are called where they come from and all that they mean. */
  readonly #shared = new Map<string, string>();

  /** @param reserved names that definitions do not get. */
  constructor(reserved: Iterable<string>) {
    this.#names = new UniqueNames(reserved);
  }

  /** Puts a schema that refers to components only under a reserved name. */
  set(name: string, schema: SchemaObject): Reference {
    this.#schemas.set(name, schema);
    return refTo(name);
  }

  /**
   * Puts a schema under a reserved name. Its `$defs` become components too; its references follow them. Definitions
   * that are equal, with all they refer to, are put once. Those of the same name that are not get names of their own.
   */
  hoist(name: string, schema: SchemaObject, side: Side): Reference {
    const local = new LocalDefinitions(schema);
    const components = new Map<string, string>([['', name]]);
    if (local.alias !== undefined) components.set(local.alias, name);

    const put = (component: string, content: Schema) => {
      // First for its place in the order, before those that it refers to.
      this.#schemas.set(component, {});
      this.#schemas.set(
        component,
        walkSchema(content, (part) => {
          const pointer = local.pointer(part);
          return pointer ? { ...part, $ref: refTo(componentOf(pointer.definition)).$ref + pointer.rest } : part;
        }),
      );
    };
    const componentOf = (definition: string): string => {
      const known = components.get(definition);
      if (known !== undefined) return known;
      const isNamed = !isAnonymous(definition);
      const signature = isNamed ? JSON.stringify([definition, local.closure(definition)]) : undefined;
      const shared = signature === undefined ? undefined : this.#shared.get(signature);
      const component = shared ?? this.#takeName(isNamed ? toComponentName(definition) : `${name}Part`, side);
      components.set(definition, component);
      if (signature !== undefined) this.#shared.set(signature, component);
      if (shared === undefined) put(component, local.content(definition));
      return component;
    };
    put(name, local.content(local.alias ?? ''));
    return refTo(name);
  }

  toObject(): Readonly<Record<string, Schema>> {
    return Object.fromEntries(this.#schemas);
  }

  /** What a validator makes of a type often differs from what it accepts, and both are called the same. */
  #takeName(wanted: string, side: Side): string {
    return side === 'output' ? this.#names.take(wanted, `${wanted}Output`) : this.#names.take(wanted);
  }
}

/** A schema's `$defs` by their names; the schema itself has the name ''. */
class LocalDefinitions {
  readonly #contents: ReadonlyMap<string, Schema>;
  /** The definition that is all that the schema consists of, when nobody has named it. */
  readonly alias: string | undefined;

  constructor({ $defs, ...body }: SchemaObject) {
    this.#contents = new Map<string, Schema>([...Object.entries(($defs ?? {}) as Record<string, Schema>), ['', body]]);
    const pointer = Object.keys(body).length === 1 ? this.pointer(body) : undefined;
    this.alias =
      pointer && pointer.rest === '' && isAnonymous(pointer.definition) && this.#contents.has(pointer.definition)
        ? pointer.definition
        : undefined;
  }

  /** A definition that is missing, as a converter should not leave it, takes any value. */
  content(name: string): Schema {
    return this.#contents.get(name) ?? true;
  }

  /** A definition and all that it refers to, by name. */
  closure(name: string): readonly (readonly [string, Schema])[] {
    const found = new Map<string, Schema>();
    const visit = (definition: string) => {
      if (found.has(definition)) return;
      const content = this.content(definition);
      found.set(definition, content);
      walkSchema(content, (part) => {
        const pointer = this.pointer(part);
        if (pointer) visit(pointer.definition);
        return part;
      });
    };
    visit(name);
    return [...found];
  }

  /** What a `$ref` within the schema points to: a definition, and a JSON Pointer below that. */
  pointer({ $ref }: SchemaObject): { readonly definition: string; readonly rest: string } | undefined {
    if (typeof $ref !== 'string') return undefined;
    const [, segment, rest] = /^#(?:\/\$defs\/([^/]+))?($|\/.*)/s.exec($ref) ?? [];
    if (rest === undefined) return undefined;
    return { definition: segment === undefined ? '' : this.#nameIn(segment), rest };
  }

  /** Not every library encodes names as URIs have it. */
  #nameIn(segment: string): string {
    const name = unescapePointer(segment);
    return this.#contents.has(name) ? name : unescapePointer(decode(segment));
  }
}

function unescapePointer(segment: string): string {
  return segment.replaceAll('~1', '/').replaceAll('~0', '~');
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** zod numbers definitions that nobody has named (`__schema0`), so do valibot (`0`) and arktype (`intersection237`). */
function isAnonymous(definition: string): boolean {
  return /^(__schema|alias|domain|intersection|morph|proto|structure|union|unit)?\d+$/.test(definition);
}

function toComponentName(definition: string): string {
  const name = definition.replace(/[^A-Za-z0-9._-]/g, '_');
  // Programs that read the document may well assign to a property of this name.
  return name === '__proto__' ? 'proto' : name;
}

function refTo(component: string): Reference {
  return { $ref: `#/components/schemas/${component}` };
}
