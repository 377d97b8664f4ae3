import { toPathSegment } from '../protocol/path-segment.js';
import { type DescribedMutator, describeCall } from './call.js';
import { describeHeaders, describeParameters, parameterRefs } from './conventions.js';
import { componentsOfViews, type DescribedView, nameViews } from './named-views.js';
import { toCamelCase, UniqueNames } from './names.js';
import {
  type Common,
  componentNames,
  describeBatch,
  describeOperation,
  type NamedMutator,
  putArgs,
  sharedComponents,
} from './operations.js';
import { describeProblems } from './problems.js';
import { ComponentSchemas } from './schemas/component-schemas.js';
import type { Info, OpenAPIDocument, PathItem, SecurityScheme, Tag } from './types.js';
import { viewHeaders, viewParameters } from './view-conventions.js';
import { describeViews, viewsTag } from './views.js';

/** The options of `createDocument`. */
export interface DocumentOptions {
  /** The registry. The document follows its order. */
  readonly mutators: ReadonlyMap<string, DescribedMutator>;
  /** The views that callers can read. Default: none. */
  readonly views?: readonly DescribedView[] | undefined;
  /** Information about the application. Default: `defaultInfo`, or `defaultInfoWithViews` if there are views. */
  readonly info?: Info | undefined;
  /** The prefix of `/api`: empty, or a path such as `/x`. */
  readonly basePath: string;
  /** How callers authenticate. Default: a bearer token. */
  readonly securityScheme?: SecurityScheme | undefined;
  /** True if calls accept an `Idempotency-Key`. */
  readonly idempotent: boolean;
}

/** The result of `createDocument`. */
export interface DocumentResult {
  readonly document: OpenAPIDocument;
  /** The gaps in the document. Each warning begins with the name of a mutator or a view. */
  readonly warnings: readonly string[];
}

/** The default `info` of a document without views. */
export const defaultInfo: Info = {
  title: 'Mutators',
  version: '1.0.0',
  description: 'Each mutator has its own path. POST its arguments there as JSON.',
};
/** The default `info` of a document with views. */
export const defaultInfoWithViews: Info = {
  title: 'API',
  version: '1.0.0',
  description: 'Each view has its own path, to be read, and so has each mutator: POST its arguments there as JSON.',
};
const bearer: SecurityScheme = {
  type: 'http',
  scheme: 'bearer',
  description: 'A token that the application issued.',
};
const root = '/api/mutators';
const batchID = 'batch';
const listID = 'listViews';
/** The tag of operations outside any namespace. */
const rootTag: Tag = {
  name: 'mutators',
  description: 'Mutators without a namespace, and batches of calls.',
};
const problemComponent = 'Problem';

/**
 * Creates the OpenAPI 3.1 document of an application's views and mutators, as REST callers see them. Leaves open what
 * it cannot describe, and adds a warning. The same registry always yields the same document. Calls validators with
 * examples and a few simple values to determine what they require. Does not run mutators. Never rejects.
 */
export async function createDocument(options: DocumentOptions): Promise<DocumentResult> {
  const { basePath, securityScheme = bearer, idempotent } = options;
  const { info = options.views?.length ? defaultInfoWithViews : defaultInfo } = options;
  const warnings: string[] = [];
  // Client generators use these as names of methods.
  const operationIds = new UniqueNames([batchID, listID, 'constructor']);
  const mutators = nameMutators(options.mutators, operationIds, warnings);
  const views = await nameViews(options.views ?? [], operationIds, warnings);
  const schemas = new ComponentSchemas([...reservedComponents(mutators), ...componentsOfViews(views)]);
  const hasMutators = mutators.length > 0 || views.length === 0;
  const hasViews = views.length > 0;
  const hasArgs = options.views?.some(({ args }) => args) ?? false;
  const problems = describeProblems({ hasMutators, hasViews, hasArgs, idempotent });
  const parameters = hasMutators ? describeParameters(idempotent) : {};
  const common: Common = { parameters: parameterRefs(parameters), failures: problems.ofCalls, idempotent };

  const described = await Promise.all(
    mutators.map(async (named) => ({ named, call: await describeCall(named.mutator) })),
  );
  for (const { named, call } of described) warnings.push(...call.lacks.map((lack) => `${named.name}: ${lack}`));
  // Adds all args before the results, so that the names of args' types do not depend on the results.
  const put = described.map(({ named, call }) => ({ named, call, args: putArgs(named, call, schemas) }));
  const paths = put.map(({ named, call, args }): [string, PathItem] => {
    return [named.path, { post: describeOperation(named, call, args, schemas, common) }];
  });
  if (hasMutators) paths.push([root, { post: describeBatch(batchID, rootTag.name, mutators, schemas, common) }]);
  paths.push(...describeViews(views, schemas, problems.ofReads, listID));
  schemas.set(problemComponent, problems.schema);
  const document: OpenAPIDocument = {
    openapi: '3.1.1',
    info,
    servers: [{ url: basePath || '/' }],
    security: [{ auth: [] }],
    tags: [...(hasMutators ? describeTags(mutators) : []), ...(hasViews ? [viewsTag] : [])],
    paths: Object.fromEntries(paths),
    components: {
      schemas: schemas.toObject(),
      responses: problems.responses,
      parameters: { ...parameters, ...(hasViews && viewParameters) },
      headers: { ...describeHeaders(hasMutators, idempotent), ...(hasViews && viewHeaders) },
      securitySchemes: { auth: securityScheme },
    },
  };
  return { document, warnings };
}

function nameMutators(
  mutators: DocumentOptions['mutators'],
  operationIds: UniqueNames,
  warnings: string[],
): (NamedMutator & { readonly path: string })[] {
  return [...mutators].flatMap(([name, mutator]) => {
    // A lone surrogate has no encoding in a URL.
    if (/\p{Surrogate}/u.test(name)) {
      warnings.push(`${name}: left out, because a URL cannot contain its name`);
      return [];
    }
    const dot = name.lastIndexOf('.');
    return {
      name,
      mutator,
      path: [root, ...name.split('.').map(toPathSegment)].join('/'),
      operationId: operationIds.take(toCamelCase(name, 'call')),
      tag: dot < 0 ? rootTag.name : name.slice(0, dot),
    };
  });
}

function reservedComponents(mutators: readonly NamedMutator[]): string[] {
  const own = mutators.flatMap(({ operationId }) => Object.values(componentNames(operationId)));
  return [...Object.values(sharedComponents), problemComponent, ...own];
}

function describeTags(mutators: readonly NamedMutator[]): Tag[] {
  const namespaces = new Set(mutators.map(({ tag }) => tag));
  namespaces.delete(rootTag.name);
  return [...[...namespaces].map((name) => ({ name, description: `The mutators in \`${name}\`.` })), rootTag];
}
