/** The parts of an OpenAPI 3.1 document that are made here. */

/** A JSON Schema of draft 2020-12, or `true` and `false` as such. */
export type Schema = boolean | SchemaObject;

export interface SchemaObject {
  readonly [keyword: string]: unknown;
}

export interface Reference {
  readonly $ref: string;
}

export interface Info {
  readonly title: string;
  /** Of the application's interface. */
  readonly version: string;
  readonly summary?: string;
  /** Markdown. */
  readonly description?: string;
  readonly termsOfService?: string;
  readonly contact?: { readonly name?: string; readonly url?: string; readonly email?: string };
  /** `identifier` is an SPDX expression; there is either that or a `url`. */
  readonly license?: { readonly name: string; readonly identifier?: string; readonly url?: string };
}

export interface OAuthFlow {
  readonly authorizationUrl?: string;
  readonly tokenUrl?: string;
  readonly refreshUrl?: string;
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
  readonly summary?: string;
  readonly value: unknown;
}

export interface MediaType {
  readonly schema: Schema;
  readonly examples?: Readonly<Record<string, Example>>;
}

export type Content = Readonly<Record<string, MediaType>>;

export interface Header {
  readonly description: string;
  readonly schema: Schema;
}

export interface Parameter extends Header {
  readonly name: string;
  readonly in: 'header';
}

export interface Response {
  readonly description: string;
  readonly headers: Readonly<Record<string, Reference>>;
  readonly content: Content;
}

export interface RequestBody {
  readonly required?: true;
  readonly content: Content;
}

export interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly deprecated?: true;
  readonly parameters: readonly Reference[];
  readonly requestBody?: RequestBody;
  readonly responses: Readonly<Record<string, Response | Reference>>;
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
  readonly paths: Readonly<Record<string, { readonly post: Operation }>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly responses: Readonly<Record<string, Response>>;
    readonly parameters: Readonly<Record<string, Parameter>>;
    readonly headers: Readonly<Record<string, Header>>;
    readonly securitySchemes: Readonly<Record<string, SecurityScheme>>;
  };
}
