/** The API reference: a section for each operation of the OpenAPI document, with its request beside it. */
import { type Call, curlOf } from '../../dashboard/docs-page/src/snippets.ts';
import { ERRORS, type ErrorCode } from '../../src/errors.ts';
import { html, Markup, NOTHING } from './html.ts';
import { plainText, renderText, type Section } from './markdown.ts';
import { FieldTables, type Schema, type Schemas } from './schema-fields.ts';

interface Media {
  readonly schema: Schema;
  readonly examples?: Readonly<
    Record<string, { readonly summary?: string; readonly value: unknown }>
  >;
}

interface Parameter {
  readonly $ref?: string;
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
}

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly security?: readonly unknown[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> };
  readonly responses: Readonly<
    Record<
      string,
      { readonly description: string; readonly content: Readonly<Record<string, Media>> }
    >
  >;
  readonly 'x-codeSamples': readonly { readonly label: string; readonly source: string }[];
}

export interface OpenApi {
  readonly info: { readonly description: string };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Schemas;
    readonly parameters: Readonly<Record<string, Parameter>>;
  };
}

interface Reference {
  readonly content: Markup;
  readonly sections: readonly Section[];
  readonly parts: readonly { readonly id: string; readonly title: string }[];
  /** What the page's scripts need to send requests. */
  readonly operations: readonly Call[];
}

interface Located {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

/** The address in examples until a script knows the server's own. */
const ADDRESS = 'http://127.0.0.1:8080';

export function renderReference(api: OpenApi): Reference {
  const located = Object.entries(api.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      operation,
    })),
  );
  const calls = located.map((one) => callOf(one));
  const groups = api.tags.map(({ name, description }) => {
    const inside = located.filter(({ operation }) => operation.tags.includes(name));
    return html`<section class="tag" aria-labelledby="tag-${name}"><h2 id="tag-${name}">${titleOf(name)}</h2>${words(description)}</section>
${inside.map((one) => sectionOf(one, api))}`;
  });
  return {
    content: html`<h1 id="reference">API reference</h1>${introduction(located)}${groups}`,
    sections: located.map(searchSection),
    parts: located.map(({ operation }) => ({
      id: operation.operationId,
      title: operation.summary,
    })),
    operations: calls,
  };
}

const titleOf = (name: string): string => name.replace(/^./, (first) => first.toUpperCase());

function words(text: string): Markup {
  return new Markup(renderText(text, (target) => target));
}

function introduction(located: readonly Located[]): Markup {
  const rows = located.map(
    ({ method, path, operation }) =>
      html`<tr><td><a href="#${operation.operationId}">${operation.summary}</a></td><td><code>${method} ${path}</code></td></tr>`,
  );
  return html`<div class="introduction"><p>Every operation of this version, with its fields and a request to send. The same as a document for programs:
<code>/api/v2/openapi.json</code> of a server. <a href="api.html">The API</a> explains what a schema cannot say, and
<a href="errors.html">Errors</a> lists every error.</p>
<div id="session" class="session"></div>
<div class="table" tabindex="0" role="group" aria-label="Operations"><table><thead><tr><th scope="col">Operation</th><th scope="col">Request</th></tr></thead><tbody>${rows}</tbody></table></div></div>`;
}

function sectionOf(located: Located, api: OpenApi): Markup {
  const { method, path, operation } = located;
  const { operationId: id, summary, description } = operation;
  const [first = '', ...others] = description.split('\n\n');
  return html`<section class="operation" aria-labelledby="${id}">
<div class="about"><h3 id="${id}">${summary} <a class="anchor" href="#${id}" tabindex="-1" aria-hidden="true">#</a></h3>
<p class="endpoint"><span class="method">${method}</span> <code>${path}</code></p>
${words(first)}
${parametersOf(operation, api, ['path', 'query'])}${bodyOf(operation, api)}${parametersOf(operation, api, ['header'])}${answerOf(operation, api)}${errorsOf(operation)}
${others.length === 0 ? NOTHING : html`<h4>Notes</h4>${words(others.join('\n\n'))}`}</div>
<div class="request"><div class="try" data-operation="${id}"><pre tabindex="0"><code>${curlOf(callOf(located), { address: ADDRESS, apiKey: null })}</code></pre></div></div>
</section>`;
}

function resolved({ parameters = [] }: Operation, api: OpenApi): Parameter[] {
  return parameters.map((one) => {
    const name = one.$ref?.split('/').at(-1);
    return name === undefined ? one : (api.components.parameters[name] as Parameter);
  });
}

type Place = Parameter['in'];

const PLACES: Readonly<Record<Place, string>> = { path: 'Path', query: 'Query', header: 'Headers' };

function parametersOf(operation: Operation, api: OpenApi, places: readonly Place[]): Markup {
  const tables = new FieldTables(api.components.schemas, words);
  const all = resolved(operation, api);
  return html`${places.map((kind) => {
    const shown = all.filter((one) => one.in === kind);
    if (shown.length === 0) return NOTHING;
    const rows = shown.map(({ name, schema, description, required = false }) => {
      const described = { ...schemaOf(schema, api), ...(description && { description }) };
      return tables.row(name, described, required, `${operation.operationId}.${kind}.${name}`);
    });
    const list = html`<ul class="fields">${rows}</ul>`;
    // All operations take the same headers, which few callers need.
    return kind === 'header'
      ? html`<details class="part"><summary>${PLACES[kind]}</summary>${list}</details>`
      : html`<h4>${PLACES[kind]}</h4>${list}`;
  })}`;
}

function schemaOf(schema: Schema, api: OpenApi): Schema {
  const name = schema.$ref?.split('/').at(-1);
  return name === undefined ? schema : (api.components.schemas[name] as Schema);
}

function bodyOf({ operationId, requestBody }: Operation, api: OpenApi): Markup {
  const media = requestBody?.content['application/json'];
  if (!media) return NOTHING;
  const tables = new FieldTables(api.components.schemas, words);
  return html`<h4>Body</h4>${tables.fieldsOf(media.schema, `${operationId}.body.`)}`;
}

function answerOf({ operationId, responses }: Operation, api: OpenApi): Markup {
  const content = Object.entries(responses['200']?.content ?? {});
  const tables = new FieldTables(api.components.schemas, words, { isAnswer: true });
  return html`${content.map(([type, { schema, examples = {} }]) => {
    const [example] = Object.values(examples);
    const fields = tables.fieldsOf(schema, `${operationId}.answer.`);
    const description =
      fields === NOTHING ? words(schemaOf(schema, api).description ?? '') : NOTHING;
    return html`<h4>Answer <span class="type">200, ${type}</span></h4>${description}
${fields === NOTHING ? NOTHING : html`<details class="part"><summary>Its fields</summary>${fields}</details>`}
${example ? html`<details class="part"><summary>Example</summary><pre tabindex="0"><code>${pretty(example.value)}</code></pre></details>` : NOTHING}`;
  })}`;
}

function pretty(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
}

/** One table of errors is enough: its page says what each means and what to do. */
function errorsOf({ responses }: Operation): Markup {
  const codes = Object.entries(responses).flatMap(([status, { description }]) =>
    (Object.keys(ERRORS) as ErrorCode[]).filter(
      (code) => ERRORS[code].status === Number(status) && description.includes(`${code}: `),
    ),
  );
  const rows = codes.map(
    (code) =>
      html`<tr><td><a href="errors.html#${code}"><code>${code}</code></a></td><td>${ERRORS[code].status}</td><td>${ERRORS[code].title}</td></tr>`,
  );
  return html`<details class="part"><summary>Errors (${codes.length})</summary><div class="table" tabindex="0" role="group" aria-label="Errors"><table><thead><tr><th scope="col">Code</th><th scope="col">Status</th><th scope="col">Meaning</th></tr></thead><tbody>${rows}</tbody></table></div></details>`;
}

function searchSection({ method, path, operation }: Located): Section {
  const { operationId, summary, description } = operation;
  const text = `${method} ${path}. ${plainText(description)}`;
  return { id: operationId, title: `${summary} (${operationId})`, text, isRow: false };
}

function callOf({ method, path, operation }: Located): Call {
  const { operationId, security, requestBody, parameters = [] } = operation;
  const examples = Object.values(requestBody?.content['application/json']?.examples ?? {});
  const samples = operation['x-codeSamples'].map(({ label, source }) => [label, source]);
  return {
    id: operationId,
    method,
    path,
    isKeyed: security === undefined,
    hasQuery: parameters.some((one) => one.in === 'query'),
    examples: examples.map(({ summary = '', value }) => ({ name: summary, body: value as object })),
    samples: Object.fromEntries(samples),
  };
}
