/** The program for a request, in each language. Used by the build of the reference and by its page. */

/** An operation, as the page needs it to show and send requests. */
export interface Call {
  readonly id: string;
  readonly method: string;
  /** With `{key_id}` for what the request fills in. */
  readonly path: string;
  readonly isKeyed: boolean;
  readonly hasQuery: boolean;
  readonly examples: readonly { readonly name: string; readonly body: object }[];
  /** Whole programs, by language, for operations that need more than one call. */
  readonly samples: Readonly<Record<string, string>>;
}

/** Where a request goes, and as whom. */
export interface Caller {
  readonly address: string;
  /** A public demo key. Null: the program reads the reader's own from where it is secret. */
  readonly apiKey: string | null;
}

/** What the reader has filled in. */
export interface Filled {
  readonly keyId?: string;
  readonly query?: string;
  /** JSON text; by default that of the first example. */
  readonly body?: string;
}

export const LANGUAGES = ['curl', 'TypeScript', 'Python'] as const;
export type Language = (typeof LANGUAGES)[number];

/** A key_id that no server has generated. */
const SOME_KEY_ID = 'phm_1';

const EXAMPLE_ADDRESS = 'http://127.0.0.1:8080';
const EXAMPLE_KEY = /phmsk_demo_\w+/g;

export function programOf(
  language: Language,
  call: Call,
  caller: Caller,
  filled: Filled = {},
): string {
  if (language === 'curl') return curlOf(call, caller, filled);
  const made =
    language === 'TypeScript' ? typescriptOf(call, caller, filled) : pythonOf(call, caller, filled);
  return made ?? sampleOf(language, call, caller);
}

/** Returns path and query of a request. */
export function targetOf({ path }: Call, { keyId = SOME_KEY_ID, query = '' }: Filled): string {
  const target = path.replace('{key_id}', encodeURIComponent(keyId.trim() || SOME_KEY_ID));
  return query.trim() === '' ? target : `${target}?${query.trim()}`;
}

/** Returns the text of a request's body; undefined if it has none. */
export function bodyText({ examples }: Call, { body }: Filled): string | undefined {
  const [first] = examples;
  return first === undefined ? undefined : (body ?? inJson(first.body));
}

export function curlOf(call: Call, { address, apiKey }: Caller, filled: Filled = {}): string {
  const body = bodyText(call, filled);
  const key = apiKey === null ? '@api-key.txt' : quoted(`X-API-Key: ${apiKey}`);
  const parts = [
    `curl -s ${quoted(address + targetOf(call, filled))}`,
    ...(call.isKeyed ? [`-H ${key}`] : []),
    ...(body === undefined ? [] : ["-H 'Content-Type: application/json'"]),
  ];
  const note = call.isKeyed && apiKey === null ? '# api-key.txt: X-API-Key: your API key\n' : '';
  if (body === undefined) return note + parts.join(' \\\n  ');
  // A key is no argument: every user of the machine can read those.
  if (/"key"\s*:/.test(body)) {
    return `${note}${[...parts, '-d @-'].join(' \\\n  ')} <<'JSON'\n${body}\nJSON`;
  }
  return note + [...parts, `-d ${quoted(body)}`].join(' \\\n  ');
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Arguments of the clients' methods, from what the reader filled in. */
interface Arguments {
  readonly keyId: string;
  readonly query: Readonly<Record<string, unknown>>;
  readonly body: Readonly<Record<string, unknown>>;
}

type Write = (given: Arguments, literal: (value: unknown) => string) => string;

/** The call of the TypeScript client, by operation, but for plain reads. */
const TYPESCRIPT: Readonly<Record<string, Write>> = {
  generate: ({ body }, literal) => `generate(${literal(body)})`,
  generateSealed: ({ body }, literal) => `generateSealed(${literal(body)})`,
  validate: ({ body }, literal) => `validate(${literal(body)})`,
  getKey: ({ keyId }, literal) => `getKey(${literal(keyId)})`,
  revokeKey: ({ keyId, body }, literal) => `revokeKey(${literal(keyId)}, ${literal(body.reason)})`,
  receipt: ({ keyId }, literal) => `receipt(${literal(keyId)})`,
  receiptByCommitment: ({ body }, literal) =>
    `receiptByCommitment(${literal(body.key_id)}, ${literal(body.key_commitment)})`,
};

/** Returns an object, or nothing if it has no members. */
function optional(query: Arguments['query'], literal: (value: unknown) => string): string {
  return Object.keys(query).length === 0 ? '' : literal(query);
}

/** The call of the Python client, by operation, but for plain reads. */
const PYTHON: Readonly<Record<string, Write>> = {
  generate: ({ body }, literal) => `generate(${named(body, 'security_level', literal)})`,
  generateSealed: ({ body }, literal) =>
    `generate_sealed(${named(body, 'security_level', literal)})`,
  validate: ({ body }, literal) => `validate(${named(body, 'key', literal)})`,
  getKey: ({ keyId }, literal) => `get_key(${literal(keyId)})`,
  revokeKey: ({ keyId, body }, literal) => `revoke_key(${literal(keyId)}, ${literal(body.reason)})`,
  receipt: ({ keyId }, literal) => `receipt(${literal(keyId)})`,
  receiptByCommitment: ({ body }, literal) =>
    `receipt_by_commitment(${literal(body.key_id)}, ${literal(body.key_commitment)})`,
};

/** Lists, which the clients read page by page: their programs are the tested ones. */
const PAGED = ['listKeys'];

/** Reports whether the clients' call takes the query alone, under the name of the operation. */
function isPlainRead({ id, method, path, isKeyed }: Call): boolean {
  return method === 'GET' && isKeyed && !path.includes('{') && !PAGED.includes(id);
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Returns the arguments of a Python call: the first by its place, the others by name. */
function named(body: Arguments['body'], first: string, literal: (value: unknown) => string) {
  const { [first]: value, ...others } = body;
  const rest = byName(others, literal);
  return rest === '' ? literal(value) : `${literal(value)}, ${rest}`;
}

function byName(members: Arguments['body'], literal: (value: unknown) => string): string {
  const named = Object.entries(members).filter(([name]) => /^[a-z_]\w*$/i.test(name));
  return named.map(([name, one]) => `${name}=${literal(one)}`).join(', ');
}

function argumentsOf(call: Call, filled: Filled): Arguments | null {
  const keyId = filled.keyId?.trim() || SOME_KEY_ID;
  const text = bodyText(call, filled);
  const query = queryOf(filled);
  if (text === undefined) return { keyId, query, body: {} };
  try {
    const body: unknown = JSON.parse(text);
    const isObject = typeof body === 'object' && body !== null && !Array.isArray(body);
    return isObject ? { keyId, query, body: body as Arguments['body'] } : null;
  } catch {
    return null;
  }
}

/** Returns the parameters of a query, numbers as such. */
function queryOf({ query = '' }: Filled): Arguments['query'] {
  const given = [...new URLSearchParams(query.trim())];
  return Object.fromEntries(
    given.map(([name, text]) => [name, /^\d{1,15}$/.test(text) ? Number(text) : text]),
  );
}

function typescriptOf(call: Call, { address, apiKey }: Caller, filled: Filled): string | null {
  const given = argumentsOf(call, filled);
  const read: Write = ({ query }, literal) => `${call.id}(${optional(query, literal)})`;
  const write = isPlainRead(call) ? read : TYPESCRIPT[call.id];
  if (!given || !write) return null;
  const key = apiKey === null ? 'process.env.PHM_API_KEY' : `'${apiKey}'`;
  return `import { PhmClient } from 'phm-client';

const phm = new PhmClient({
  baseUrl: '${address}',${call.isKeyed ? `\n  apiKey: ${key},` : ''}
});
const answer = await phm.${write(given, inTypescript)};
console.log(JSON.stringify(answer));
`;
}

function pythonOf(call: Call, { address, apiKey }: Caller, filled: Filled): string | null {
  const given = argumentsOf(call, filled);
  const read: Write = ({ query }, literal) => `${snakeCase(call.id)}(${byName(query, literal)})`;
  const write = isPlainRead(call) ? read : PYTHON[call.id];
  if (!given || !write) return null;
  const ownKey = call.isKeyed && apiKey === null;
  const key = call.isKeyed
    ? `, ${apiKey === null ? 'os.environ["PHM_API_KEY"]' : `"${apiKey}"`}`
    : '';
  return `${ownKey ? 'import os\n\n' : ''}from phm_client import PhmClient

with PhmClient("${address}"${key}) as phm:
    answer = phm.${write(given, inPython)}
    print(answer)
`;
}

/** Returns a value as TypeScript source. */
function inTypescript(value: unknown): string {
  if (typeof value === 'string')
    return `'${JSON.stringify(value).slice(1, -1).replaceAll("'", "\\'").replaceAll('\\"', '"')}'`;
  if (Array.isArray(value)) return `[${value.map(inTypescript).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return String(JSON.stringify(value));
  const members = Object.entries(value).map(
    ([name, one]) =>
      `${/^[a-z_]\w*$/i.test(name) ? name : JSON.stringify(name)}: ${inTypescript(one)}`,
  );
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
}

const PYTHON_CONSTANTS: ReadonlyMap<unknown, string> = new Map<unknown, string>([
  [true, 'True'],
  [false, 'False'],
  [null, 'None'],
]);

/** Returns a value as Python source. */
function inPython(value: unknown): string {
  return inJson(value, PYTHON_CONSTANTS);
}

/** Returns JSON in one line that is easy to read. */
export function inJson(
  value: unknown,
  constants: ReadonlyMap<unknown, string> = new Map(),
): string {
  const inner = (one: unknown) => inJson(one, constants);
  if (Array.isArray(value)) return `[${value.map(inner).join(', ')}]`;
  if (typeof value !== 'object' || value === null) {
    return constants.get(value) ?? String(JSON.stringify(value));
  }
  const members = Object.entries(value).map(
    ([name, one]) => `${JSON.stringify(name)}: ${inner(one)}`,
  );
  return `{${members.join(', ')}}`;
}

/** Returns the tested program of the project, with the address and API key of the caller. */
function sampleOf(language: Language, { samples }: Call, { address, apiKey }: Caller): string {
  return (samples[language] ?? '')
    .replaceAll(EXAMPLE_ADDRESS, address)
    .replace(EXAMPLE_KEY, apiKey ?? 'YOUR_API_KEY');
}
