/** The OpenAPI 3.1 document: the routes' own schemas, with texts, examples and code for people. */
import { readFileSync } from 'node:fs';
import swagger from '@fastify/swagger';
import type { FastifyInstance } from 'fastify';
import { AppError, ERRORS, type ErrorCode } from '../errors.ts';
import { PROJECT_VERSION } from '../version.ts';
import { DESCRIPTION, EXTERNAL_DOCS, OPERATION_TEXTS, TAGS } from './openapi-texts.ts';
import { problemBody } from './problem.ts';

/** The folder of the documented examples, one file an operation and language. */
const EXAMPLES = new URL('../../docs/examples/', import.meta.url);

const LANGUAGES = [
  { lang: 'Shell', label: 'curl', suffix: 'curl/$.sh' },
  { lang: 'TypeScript', label: 'TypeScript', suffix: 'typescript/$.ts' },
  { lang: 'Python', label: 'Python', suffix: 'python/$.py' },
];

const JSON_TYPE = 'application/json';
const PROBLEM = 'application/problem+json';

type Content = Record<string, { examples?: unknown }>;

interface CodeSample {
  readonly lang: string;
  readonly label: string;
  readonly source: string;
}

interface Operation {
  operationId?: string;
  description?: string;
  requestBody?: { content: Content };
  responses?: Record<string, { description: string; content?: Content }>;
  'x-codeSamples'?: CodeSample[];
}

interface Document {
  readonly paths?: Record<string, Record<string, Operation>>;
  components?: { examples?: Record<string, unknown> };
}

/** Registers the collection of route schemas; MUST come before the routes. */
export async function registerOpenApi(app: FastifyInstance, basePath: string): Promise<void> {
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
      // Paths in the document are relative to it.
      servers: [{ url: basePath === '' ? '/' : basePath }],
      components: {
        securitySchemes: { apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' } },
      },
      security: [{ apiKey: [] }],
    },
    transformObject: (made) => {
      if (!('openapiObject' in made)) throw new TypeError('expected an OpenAPI 3 document');
      const document = made.openapiObject as Document;
      for (const item of Object.values(document.paths ?? {})) {
        for (const operation of Object.values(item)) explain(operation);
      }
      document.components = { ...document.components, examples: errorExamples() };
      return made.openapiObject;
    },
  });
}

/** Serves the document; it needs no API key. */
export function serveOpenApi(app: FastifyInstance): void {
  app.get('/api/v2/openapi.json', { schema: { hide: true } }, async () => app.swagger());
}

/** Adds to an operation what its schema does not say. */
function explain(operation: Operation): void {
  const { operationId = '', requestBody, responses = {} } = operation;
  const texts = OPERATION_TEXTS[operationId];
  if (!texts) throw new Error(`openapi-texts.ts says nothing about the operation ${operationId}`);
  operation.description = texts.description;
  operation['x-codeSamples'] = codeSamples(operationId);
  addExamples(requestBody?.content[JSON_TYPE], texts.requests);
  addExamples(responses['200']?.content?.[JSON_TYPE], texts.answers);
  for (const [status, { description, content }] of Object.entries(responses)) {
    const codes = Object.keys(ERRORS).filter(
      (code) =>
        ERRORS[code as ErrorCode].status === Number(status) && description.includes(`${code}: `),
    );
    const references = codes.map((code) => [code, { $ref: `#/components/examples/${code}` }]);
    addExamples(content?.[PROBLEM], Object.fromEntries(references));
  }
}

function addExamples(media: { examples?: unknown } | undefined, examples: unknown): void {
  if (media && examples) media.examples = examples;
}

/** One problem of each code. */
function errorExamples(): Record<string, unknown> {
  const occurrence = {
    requestId: '0f8fad5b-d9cb-469f-a165-70867728950e',
    nowMs: Date.UTC(2026, 0, 31, 12),
  };
  const codes = Object.keys(ERRORS) as ErrorCode[];
  return Object.fromEntries(
    codes.map((code) => [
      code,
      { summary: ERRORS[code].title, value: problemBody(new AppError(code), occurrence) },
    ]),
  );
}

/** The example programs of an operation, as their files have them. */
function codeSamples(operationId: string): CodeSample[] {
  return LANGUAGES.map(({ lang, label, suffix }) => {
    const file = new URL(suffix.replace('$', operationId), EXAMPLES);
    return { lang, label, source: readFileSync(file, 'utf8') };
  });
}
