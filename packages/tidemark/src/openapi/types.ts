/** The parts of an OpenAPI 3.1 document that Tidemark uses. */

/** A JSON Schema (draft 2020-12), including `true` and `false`. */
export type Schema = boolean | SchemaObject;

export interface SchemaObject {
  readonly [keyword: string]: unknown;
}

export interface Reference {
  readonly $ref: string;
}

/** Information about an application in its OpenAPI document. */
export interface Info {
  /** The title of the application's interface. */
  readonly title: string;
  /** The version of the application's interface. */
  readonly version: string;
  /** A short summary. */
  readonly summary?: string | undefined;
  /** Markdown. */
  readonly description?: string | undefined;
  /** A URL. */
  readonly termsOfService?: string | undefined;
  /** The contact for the application's interface. */
  readonly contact?:
    | { readonly name?: string | undefined; readonly url?: string | undefined; readonly email?: string | undefined }
    | undefined;
  /** The licence of the application's interface. `identifier` is an SPDX expression; give either that or a `url`. */
  readonly license?:
    | { readonly name: string; readonly identifier?: string | undefined; readonly url?: string | undefined }
    | undefined;
}

/** The URLs and scopes of an OAuth 2 flow. */
export interface OAuthFlow {
  readonly authorizationUrl?: string | undefined;
  readonly tokenUrl?: string | undefined;
  readonly refreshUrl?: string | undefined;
  readonly scopes: Readonly<Record<string, string>>;
}

/** How callers authenticate. `description` is Markdown. */
export type SecurityScheme = { readonly description?: string } & (
  | { readonly type: 'http'; readonly scheme: string; readonly bearerFormat?: string }
  | { readonly type: 'apiKey'; readonly in: 'header' | 'query' | 'cookie'; readonly name: string }
  | { readonly type: 'mutualTLS' }
  | { readonly type: 'openIdConnect'; readonly openIdConnectUrl: string }
  | {
      readonly type: 'oauth2';
      readonly flows: Readonly<
        Partial<Record<'implicit' | 'password' | 'clientCredentials' | 'authorizationCode', OAuthFlow>>
      >;
    }
);

export interface Example {
  readonly summary?: string | undefined;
  readonly value: unknown;
}

export interface MediaType {
  readonly schema: Schema;
  readonly examples?: Readonly<Record<string, Example>> | undefined;
}

export type Content = Readonly<Record<string, MediaType>>;

export interface HeaderObject {
  readonly description: string;
  readonly schema: Schema;
}

export interface Parameter extends HeaderObject {
  readonly name: string;
  readonly in: 'header' | 'path' | 'query';
  readonly required?: true | undefined;
  readonly example?: unknown;
}

export interface Response {
  readonly description: string;
  readonly headers: Readonly<Record<string, Reference>>;
  readonly content?: Content | undefined;
}

export interface RequestBody {
  readonly required?: true | undefined;
  readonly content: Content;
}

export interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly deprecated?: true | undefined;
  readonly parameters: readonly (Reference | Parameter)[];
  readonly requestBody?: RequestBody | undefined;
  readonly responses: Readonly<Record<string, Response | Reference>>;
}

export interface PathItem {
  readonly get?: Operation | undefined;
  readonly post?: Operation | undefined;
}

export interface Tag {
  readonly name: string;
  readonly description: string;
}

export interface OpenAPIDocument {
  readonly openapi: '3.1.1';
  readonly info: Info;
  readonly servers: readonly { readonly url: string }[];
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly tags: readonly Tag[];
  readonly paths: Readonly<Record<string, PathItem>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly responses: Readonly<Record<string, Response>>;
    readonly parameters: Readonly<Record<string, Parameter>>;
    readonly headers: Readonly<Record<string, HeaderObject>>;
    readonly securitySchemes: Readonly<Record<string, SecurityScheme>>;
  };
}
