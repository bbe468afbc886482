/** The OpenAPI 3.1 document: the schemas of the routes, with texts, examples and code samples. */
import swagger from '@fastify/swagger';
import { fastify, type RouteOptions } from 'fastify';
import { AppError, ERRORS, type ErrorCode } from '../../errors.ts';
import type { Scope } from '../../ledger/index.ts';
import { PROJECT_VERSION } from '../../process/version.ts';
import { problemBody } from '../wire/problem.ts';
import { type CodeSample, madeSamples, writtenSamples } from './code-samples.ts';
import { HEADER_PARAMETERS, headerParametersOf, headersOf, RESPONSE_HEADERS } from './headers.ts';
import { NamedSchemas, type Schema } from './named-schemas.ts';
import type { OperationDocs, OperationExamples } from './operation.ts';
import {
  API_KEY_ORIGIN,
  CONDITIONS,
  DESCRIPTION,
  EXTERNAL_DOCS,
  PROBLEM_DETAILS,
  TAGS,
} from './texts.ts';

const JSON_TYPE = 'application/json';
const PROBLEM = 'application/problem+json';

interface Media {
  schema: Schema;
  examples?: unknown;
}

type Content = Record<string, Media>;

interface Response {
  description: string;
  content: Content;
  headers?: unknown;
  links?: unknown;
}

interface Parameter {
  schema?: Schema;
  readonly description?: string;
  readonly $ref?: string;
}

interface Operation {
  operationId?: string;
  description?: string;
  security?: readonly unknown[];
  parameters?: Parameter[];
  requestBody?: { content: Content };
  responses?: Record<string, Response>;
  'x-codeSamples'?: CodeSample[];
  /** The scope that the API key needs, or several of which one is enough. */
  'x-required-scope'?: Scope | readonly Scope[];
}

/** What its route says of an operation beside its schema. */
interface Told extends Omit<OperationDocs, 'examples'>, OperationExamples {
  readonly scope: Scope | readonly Scope[] | undefined;
}

/** By operationId. */
type AllTold = ReadonlyMap<string, Told>;

interface Document {
  readonly paths?: Record<string, Record<string, Operation>>;
  components?: Record<string, unknown>;
}

/**
 * Returns the document of these routes. The plugin collects routes as they are added, so they are added to an application
 * that serves nothing.
 */
export async function openApiDocument(
  routes: readonly RouteOptions[],
  basePath: string,
): Promise<object> {
  const told: AllTold = new Map(await Promise.all(routes.map(tell)));
  const app = fastify({ exposeHeadRoutes: false });
  app.setValidatorCompiler(() => () => true);
  app.setSerializerCompiler(() => () => '');
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'PHM key service',
        version: PROJECT_VERSION,
        description: DESCRIPTION,
        license: { name: 'MIT', identifier: 'MIT' },
      },
      externalDocs: EXTERNAL_DOCS,
      tags: TAGS,
      // Paths in the document are relative to this URL.
      servers: [{ url: basePath === '' ? '/' : basePath }],
      components: {
        securitySchemes: {
          apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: API_KEY_ORIGIN },
        },
      },
      security: [{ apiKey: [] }],
    },
    // A constant stays a constant: many generators cannot read an enumeration of one number.
    convertConstToEnum: false,
    transformObject: (made) => {
      if (!('openapiObject' in made)) throw new TypeError('expected an OpenAPI 3 document');
      complete(made.openapiObject as Document, told);
      return made.openapiObject;
    },
  });
  for (const { method, url, schema } of routes) {
    app.route({ method, url, ...(schema && { schema }), handler: () => {} });
  }
  await app.ready();
  return app.swagger();
}

/** Adds texts, headers and examples to the document, and names its schemas. */
function complete(document: Document, told: AllTold): void {
  const named = new NamedSchemas();
  const operations = Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
    Object.values(item).map((operation) => {
      nameSchemas(operation, named);
      explain(operation, path, told);
      return operation;
    }),
  );
  const schemas = Object.entries(named.all).map(([name, schema]) => [
    name,
    { ...schema, ...CONDITIONS[name] },
  ]);
  document.components = {
    ...document.components,
    schemas: Object.fromEntries(schemas),
    parameters: HEADER_PARAMETERS,
    headers: RESPONSE_HEADERS,
    examples: errorExamples(operations.flatMap(documentedCodes)),
  };
}

async function tell({ url, schema = {}, config }: RouteOptions): Promise<[string, Told]> {
  const { operationId } = schema;
  if (!operationId || !config?.docs) throw new Error(`${url} lacks an operationId or docs`);
  const { examples, ...texts } = config.docs;
  return [operationId, { ...texts, ...(await examples()), scope: config.scope }];
}

/** Adds texts, headers, examples and code samples to an operation. */
function explain(operation: Operation, path: string, told: AllTold): void {
  const { operationId = '', requestBody, responses = {}, parameters = [] } = operation;
  const { description, links, query, requests, answers, scope } = told.get(operationId) as Told;
  const isKeyed = scope !== undefined;
  operation.description = description;
  if (scope) {
    const names = [scope].flat().map((one) => `the scope \`${one}\``);
    operation.description += `\n\nThe API key needs ${names.join(' or ')}.`;
    operation['x-required-scope'] = scope;
  }
  const takesFields = isKeyed || requestBody !== undefined;
  operation.parameters = [...parameters, ...headerParametersOf(operationId, takesFields)];
  operation['x-codeSamples'] = query
    ? madeSamples({ operationId, path, query })
    : writtenSamples(operationId);
  addExamples(requestBody?.content[JSON_TYPE], requests);
  addExamples(Object.values(responses['200']?.content ?? {})[0], answers);
  if (links && responses['200']) responses['200'].links = links;
  for (const [status, response] of Object.entries(responses)) {
    response.headers = headersOf(Number(status), operationId, { isKeyed, takesFields });
    const codes = codesOf(status, response.description);
    const references = codes.map((code) => [code, { $ref: `#/components/examples/${code}` }]);
    addExamples(response.content[PROBLEM], Object.fromEntries(references));
  }
}

/** Returns the codes that the description of a response names. */
function codesOf(status: string, description: string): ErrorCode[] {
  const codes = Object.keys(ERRORS) as ErrorCode[];
  return codes.filter(
    (code) => ERRORS[code].status === Number(status) && description.includes(`${code}: `),
  );
}

function documentedCodes({ responses = {} }: Operation): ErrorCode[] {
  return Object.entries(responses).flatMap(([status, { description }]) =>
    codesOf(status, description),
  );
}

function nameSchemas(operation: Operation, named: NamedSchemas): void {
  const { parameters = [], requestBody, responses = {} } = operation;
  for (const parameter of parameters) {
    const { schema, description } = parameter;
    // The plugin moves the description out of the schema. With it, the schema equals its other uses.
    if (schema?.title) parameter.schema = named.replace({ ...schema, description });
    else if (schema) parameter.schema = named.replace(schema);
  }
  const contents = [requestBody, ...Object.values(responses)].map((part) => part?.content ?? {});
  for (const media of contents.flatMap((content) => Object.values(content))) {
    media.schema = named.replace(media.schema);
  }
}

function addExamples(media: { examples?: unknown } | undefined, examples: unknown): void {
  if (media && examples) media.examples = examples;
}

/** Returns one problem for each code. */
function errorExamples(documented: readonly ErrorCode[]): Record<string, unknown> {
  const occurrence = {
    requestId: '0f8fad5b-d9cb-469f-a165-70867728950e',
    nowMs: Date.UTC(2026, 0, 31, 12),
  };
  return Object.fromEntries(
    [...new Set(documented)].map((code) => [
      code,
      {
        summary: ERRORS[code].title,
        value: problemBody(new AppError(code, PROBLEM_DETAILS[code]), occurrence),
      },
    ]),
  );
}
