/** The scripted exchanges of sdk/exchanges/, whose README.md defines them. sdk/python/tests/exchange_file.py reads them too. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const FOLDER: string = join(import.meta.dirname, '../../sdk/exchanges');

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

export interface JsonObject {
  readonly [name: string]: Json;
}

export interface Answer {
  readonly body?: string;
  readonly number?: number;
  readonly with?: JsonObject;
  readonly without?: readonly string[];
  readonly batch?: number | readonly number[];
  readonly of?: string;
  readonly page?: readonly number[];
  readonly next?: string | null;
  readonly each?: JsonObject;
  readonly problem?: string;
  readonly html?: number;
  readonly text?: Json;
  readonly padding_mib?: number;
  readonly fault?: 'refused' | 'broken' | 'half' | 'silent' | 'stalls';
  readonly repeats?: number;
  readonly echo?: boolean;
  readonly status?: number;
  readonly headers?: JsonObject;
  readonly after?: number;
}

/** What a request must be. */
export interface Sent {
  readonly line?: string;
  readonly query?: Readonly<Record<string, string | readonly string[]>>;
  readonly headers?: Readonly<Record<string, string | null>>;
  readonly body?: JsonObject;
}

/** What an error must be. */
export interface Failure {
  readonly class: string;
  readonly message?: string | { readonly typescript: string; readonly python: string };
  readonly why?: string;
  readonly request_id?: string | null;
  readonly idempotency_key?: string | null;
  readonly [member: string]: Json | undefined;
}

export interface Step {
  readonly call: string;
  readonly args?: JsonObject;
  readonly read?: number;
  readonly times?: number;
  readonly answers?: readonly Answer[];
  readonly sends?: Sent | readonly Sent[];
  readonly returns?: JsonObject | readonly JsonObject[];
  readonly count?: number;
  readonly fails?: Failure | null;
  readonly at?: readonly number[];
  readonly ends?: number;
  readonly limits?: JsonObject;
}

export interface Exchange {
  readonly name: string;
  readonly client?: JsonObject;
  readonly random?: number;
  readonly steps: readonly Step[];
}

const STEP_MEMBERS = [
  'call',
  'args',
  'read',
  'times',
  'answers',
  'sends',
  'returns',
  'count',
  'fails',
  'at',
  'ends',
  'limits',
] as const;

const MEMBERS = ['name', 'client', 'random', 'steps', 'cases', 'differs'];

/** Named bodies, and texts of arguments. */
export const BODIES = read('bodies.json') as JsonObject;

function read(name: string): Json {
  return JSON.parse(readFileSync(join(FOLDER, name), 'utf8')) as Json;
}

/** Names of the files that hold exchanges. */
export function topics(): string[] {
  return readdirSync(FOLDER)
    .filter((name) => name.endsWith('.json') && name !== 'bodies.json')
    .sort();
}

/** Returns the exchanges of a file as this client makes them. */
export function exchangesOf(file: string, client: 'typescript' | 'python'): Exchange[] {
  return written(file).flatMap((one) => cases(one).map((each) => forClient(each, client)));
}

/** Returns the exchanges of a file as they are written there. */
export function written(file: string): JsonObject[] {
  return read(file) as unknown as JsonObject[];
}

function cases({ cases: given, ...base }: JsonObject): JsonObject[] {
  if (given === undefined) return [base];
  return (given as readonly (string | JsonObject)[]).map((one) => {
    const own = typeof one === 'string' ? { name: one } : one;
    const { name } = own;
    const whole = named(merge(base, own), name as string) as JsonObject;
    return { ...whole, name: `${base.name}: ${name}` };
  });
}

/** Replaces `$name` in every text. */
function named(value: Json, name: string): Json {
  if (typeof value === 'string') return value.replaceAll('$name', () => name);
  if (Array.isArray(value)) return value.map((one) => named(one, name));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, named(one, name)]));
}

function forClient({ differs, ...shared }: JsonObject, client: string): Exchange {
  const own = (differs as JsonObject | undefined)?.[client] ?? {};
  const { name, client: options, random, steps, ...rest } = merge(shared, own as JsonObject);
  const wrong = Object.keys(rest).find((member) => !STEP_MEMBERS.includes(member as never));
  if (wrong !== undefined) throw new Error(`${name}: ${wrong} is no member of an exchange`);
  return { name, client: options, random, steps: steps ?? [rest] } as unknown as Exchange;
}

/** Returns `base` with the members of `over`: objects are merged, everything else is replaced. */
export function merge(base: JsonObject, over: JsonObject): JsonObject {
  const merged: Record<string, Json> = { ...base };
  for (const [name, value] of Object.entries(over)) {
    const old = merged[name];
    merged[name] = isObject(old) && isObject(value) ? merge(old, value) : value;
  }
  return merged;
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Names a member of an exchange, of a case or of `differs` that no reader knows; undefined if there is none. */
export function unknownMember(one: JsonObject): string | undefined {
  const known = [...MEMBERS, ...STEP_MEMBERS];
  return Object.keys(one).find((member) => !known.includes(member));
}

/** Replaces values that are written short: `$`, `$base64url` and `$repeat` (README.md, "Values"). */
export function resolved(value: Json): Json {
  if (Array.isArray(value)) return value.map(resolved);
  if (!isObject(value)) return value;
  if (typeof value.$ === 'string') return resolved(BODIES[value.$] ?? null);
  if (value.$base64url !== undefined) {
    return Buffer.from(canonical(resolved(value.$base64url))).toString('base64url');
  }
  if (Array.isArray(value.$repeat)) {
    const [start, text, times, end = ''] = value.$repeat as [string, string, number, string?];
    return start + text.repeat(times) + end;
  }
  const entries = Object.entries(value).map(([name, one]) => [name, resolved(one)]);
  return Object.fromEntries(entries);
}

/** Returns JSON with sorted names. */
function canonical(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const names = Object.keys(value).sort();
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonical(value[name] ?? null)}`).join()}}`;
}
