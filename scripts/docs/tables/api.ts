/**
 * What comes from the OpenAPI document: the programs of `docs/examples/`, the tables of the clients' methods, and an exchange
 * that both clients make for each plain read: a GET with an API key, without parameters in its path or pages.
 */
import { sampleFiles } from '../../../src/http/openapi/code-samples.ts';
import { openApiText } from '../openapi.ts';
import type { Part } from './part.ts';

interface Schema {
  readonly $ref?: string;
  readonly minimum?: number;
  readonly enum?: readonly string[];
  readonly oneOf?: readonly { readonly const: number }[];
  readonly examples?: readonly (string | number)[];
}

interface Parameter {
  readonly in?: string;
  readonly name: string;
  readonly schema: Schema;
}

interface Operation {
  readonly operationId: string;
  readonly security?: readonly unknown[];
  readonly parameters: readonly Parameter[];
  readonly responses: Readonly<
    Record<string, { readonly content: Readonly<Record<string, { readonly examples: Examples }>> }>
  >;
  readonly 'x-codeSamples': readonly { readonly source: string }[];
}

type Examples = Readonly<Record<string, { readonly value: object }>>;

export interface Api {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

interface Read {
  readonly path: string;
  readonly operation: Operation;
  /** Parameters of the query, with a value that each may have. */
  readonly query: readonly (readonly [name: string, value: string | number])[];
}

export async function readApi(): Promise<Api> {
  return JSON.parse(await openApiText()) as Api;
}

export function apiFiles(api: Api): { readonly file: string; readonly text: string }[] {
  const operations = Object.values(api.paths).flatMap((item) => Object.values(item));
  const programs = operations.flatMap(({ operationId, 'x-codeSamples': samples }) => {
    const files = sampleFiles(operationId);
    return samples.map(({ source }, i) => ({ file: `docs/examples/${files[i]}`, text: source }));
  });
  const exchanges = plainReads(api).map(exchangeOf);
  const text = `${JSON.stringify(exchanges, null, 2)}\n`;
  return [...programs, { file: 'sdk/exchanges/reads.json', text }];
}

export function apiParts(api: Api): Part[] {
  const rows = (write: (id: string, names: string) => string) =>
    plainReads(api)
      .map(({ path, operation, query }) => {
        const call = write(operation.operationId, query.map(([name]) => name).join(', '));
        return `| \`${call}\` | \`GET ${path}\` |\n`;
      })
      .join('');
  const marks = { before: '| `health()`' };
  return [
    {
      ...marks,
      file: 'sdk/README.md',
      after: ['\n| `receiptByCommitment(', '\n'],
      text: rows((id, names) => `${id}(${names && `{ ${names} }`})`),
    },
    {
      ...marks,
      file: 'sdk/python/README.md',
      after: ['\n| `receipt_by_commitment(', '\n'],
      text: rows((id, names) => `${snakeCase(id)}(${names && `*, ${names}`})`),
    },
  ];
}

function plainReads({ paths, components: { schemas } }: Api): Read[] {
  return Object.entries(paths).flatMap(([path, { get: operation }]) => {
    if (!operation || operation.security !== undefined || path.includes('{')) return [];
    const query = operation.parameters
      .filter((one) => one.in === 'query')
      .map(({ name, schema }) => [name, someValue(schema, schemas)] as const);
    return query.some(([name]) => name === 'cursor') ? [] : [{ path, operation, query }];
  });
}

/** Returns a value that the schema of a parameter allows. */
function someValue(schema: Schema, schemas: Api['components']['schemas']): string | number {
  const named = schemas[schema.$ref?.split('/').at(-1) ?? ''];
  const { examples, minimum, enum: words, oneOf } = named ?? schema;
  return examples?.[0] ?? minimum ?? words?.[0] ?? oneOf?.[0]?.const ?? '';
}

/** Returns the exchange in which a client sends all parameters, and reads the example of the document. */
function exchangeOf({ path, operation: { operationId, responses }, query }: Read): object {
  const [example] = Object.values(responses['200']?.content['application/json']?.examples ?? {});
  const { success: _, timestamp: __, ...members } = Object(example?.value);
  return {
    name: `${operationId} sends its parameters and reads the documented example`,
    call: snakeCase(operationId),
    args: Object.fromEntries(query),
    answers: [{ text: JSON.stringify(example?.value) }],
    sends: {
      line: `GET ${path}`,
      query: Object.fromEntries(query.map(([name, value]) => [name, String(value)])),
    },
    returns: members,
  };
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
