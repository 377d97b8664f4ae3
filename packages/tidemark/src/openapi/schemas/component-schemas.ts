import { UniqueNames } from '../names.js';
import type { Reference, Schema, SchemaObject } from '../types.js';
import type { Side } from './converters.js';
import { walkSchema } from './schema-walk.js';

/** Collects the document's `components/schemas`, with the definitions that the schemas contain. */
export class ComponentSchemas {
  readonly #schemas = new Map<string, Schema>();
  readonly #names: UniqueNames;
  /** The component names of shared definitions, by their original names and everything that they refer to. */
  readonly #shared = new Map<string, string>();

  /** @param reserved names that definitions must not have */
  constructor(reserved: Iterable<string>) {
    this.#names = new UniqueNames(reserved);
  }

  /** Adds a schema under a reserved name. Its references must point to components. */
  set(name: string, schema: SchemaObject): Reference {
    this.#schemas.set(name, schema);
    return refTo(name);
  }

  /**
   * Adds a schema under a reserved name. Its `$defs` become components too, and its references point to them. Equal
   * definitions, including everything that they refer to, are added once. Different definitions with the same name get
   * different names.
   */
  hoist(name: string, schema: SchemaObject, side: Side): Reference {
    const local = new LocalDefinitions(schema);
    const components = new Map<string, string>([['', name]]);
    if (local.alias !== undefined) components.set(local.alias, name);

    const put = (component: string, content: Schema) => {
      // Reserves its position in the order, before the components that it refers to.
      this.#schemas.set(component, {});
      this.#schemas.set(
        component,
        walkSchema(content, (part) => {
          const pointer = local.pointer(part);
          return pointer ? { ...part, $ref: refTo(componentOf(pointer.definition)).$ref + pointer.suffix } : part;
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

  /** Takes a name for a definition. A validator's output often differs from its input, and both have the same name. */
  #takeName(name: string, side: Side): string {
    return side === 'output' ? this.#names.take(name, `${name}Output`) : this.#names.take(name);
  }
}

/** A schema's `$defs` by name. The schema itself has the name ''. */
class LocalDefinitions {
  readonly #contents: ReadonlyMap<string, Schema>;
  /** The name of an anonymous definition, if the schema is only a reference to it. */
  readonly alias: string | undefined;

  constructor({ $defs, ...body }: SchemaObject) {
    this.#contents = new Map<string, Schema>([...Object.entries(($defs ?? {}) as Record<string, Schema>), ['', body]]);
    const pointer = Object.keys(body).length === 1 ? this.pointer(body) : undefined;
    this.alias =
      pointer && pointer.suffix === '' && isAnonymous(pointer.definition) && this.#contents.has(pointer.definition)
        ? pointer.definition
        : undefined;
  }

  /** Returns a definition by its name. A missing one, which should not occur, accepts any value. */
  content(name: string): Schema {
    return this.#contents.get(name) ?? true;
  }

  /** Returns a definition and everything that it refers to, by name. */
  closure(name: string): readonly (readonly [string, Schema])[] {
    const definitions = new Map<string, Schema>();
    const visit = (definition: string) => {
      if (definitions.has(definition)) return;
      const content = this.content(definition);
      definitions.set(definition, content);
      walkSchema(content, (part) => {
        const pointer = this.pointer(part);
        if (pointer) visit(pointer.definition);
        return part;
      });
    };
    visit(name);
    return [...definitions];
  }

  /** Parses a `$ref` within the schema into a definition and a JSON Pointer into it. */
  pointer({ $ref }: SchemaObject): { readonly definition: string; readonly suffix: string } | undefined {
    if (typeof $ref !== 'string') return undefined;
    const [, segment, suffix] = /^#(?:\/\$defs\/([^/]+))?($|\/.*)/s.exec($ref) ?? [];
    if (suffix === undefined) return undefined;
    return { definition: segment === undefined ? '' : this.#nameIn(segment), suffix };
  }

  /** Returns the definition that a pointer's segment names. Not every library percent-encodes names as URIs require. */
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

/** True if a library numbered the definition: zod (`__schema0`), valibot (`0`) or arktype (`intersection237`). */
function isAnonymous(definition: string): boolean {
  return /^(__schema|alias|domain|intersection|morph|proto|structure|union|unit)?\d+$/.test(definition);
}

function toComponentName(definition: string): string {
  const name = definition.replace(/[^A-Za-z0-9._-]/g, '_');
  // Programs that read the document may assign to a property of this name.
  return name === '__proto__' ? 'proto' : name;
}

function refTo(component: string): Reference {
  return { $ref: `#/components/schemas/${component}` };
}
