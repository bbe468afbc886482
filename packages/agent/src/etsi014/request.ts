/**
 * Requests of ETSI GS QKD 014 V1.1.1 (clauses 5.3 and 5.4, 6.2 and 6.4). What the standard does not define is refused, so that nothing
 * is silently left out; `extension_optional` is the place for what a KME may ignore.
 */
import { parseReceiptText } from '../../../../sdk/src/index.ts';
import { badRequest, RequestError } from '../listeners/answer.ts';
import { parameters, targetOf, wholeNumber } from '../listeners/request.ts';
import { KEY_SIZES, type KeySize } from '../source/key-boxes.ts';

/** Keys of one request. */
export const MOST_KEYS = 128;

/** Slaves beside the one in the path: eight recipients share a key at most. */
const MOST_FURTHER = 6;

export type Method = 'status' | 'enc_keys' | 'dec_keys';

export interface Target {
  /** The other system: the slave, or for `dec_keys` the master. */
  readonly system: string;
  readonly method: Method;
  readonly query: URLSearchParams;
}

interface KeyRequest {
  readonly number: number;
  readonly size: KeySize;
  readonly further: readonly string[];
}

const PATH = /^\/api\/v1\/keys\/([^/]+)\/(status|enc_keys|dec_keys)$/;

/** Reads path and query. Throws `RequestError`. */
export function parseTarget(target: string): Target {
  const { path, query } = targetOf(target);
  const [, system, method] = PATH.exec(path) ?? [];
  if (system === undefined) throw new RequestError(404, 'there is no such resource');
  try {
    return { system: decodeURIComponent(system), method: method as Method, query };
  } catch {
    throw badRequest('the SAE ID in the path is not URL-encoded');
  }
}

/** Clause 5.3 by GET, with the size that `status` states as the default. */
export function keyRequestOfQuery(query: URLSearchParams, usual: KeySize): KeyRequest {
  const { number = '1', size = `${usual}` } = parameters(query, ['number', 'size']);
  return {
    number: countOf('number', wholeNumber(number)),
    size: sizeOf(wholeNumber(size)),
    further: [],
  };
}

/** Clause 5.3 by POST. An empty body is an empty request. */
export function keyRequestOfBody(body: string, usual: KeySize): KeyRequest {
  const given = members(body === '' ? '{}' : body, [
    'number',
    'size',
    'additional_slave_SAE_IDs',
    'extension_mandatory',
    'extension_optional',
  ]);
  refuseMandatory(given.extension_mandatory);
  return {
    number: countOf('number', given.number ?? 1),
    size: sizeOf(given.size ?? usual),
    further: furtherOf(given.additional_slave_SAE_IDs ?? []),
  };
}

/** Clause 5.4 by GET. */
export function keyIdsOfQuery(query: URLSearchParams): string[] {
  const { key_ID: id } = parameters(query, ['key_ID']);
  if (id === undefined) throw badRequest('the parameter key_ID is missing');
  return [uuidOf(id)];
}

/** Clause 5.4 by POST. The extensions are for future use, and ignored. */
export function keyIdsOfBody(body: string): string[] {
  const { key_IDs: list } = members(body, ['key_IDs', 'key_IDs_extension']);
  if (!Array.isArray(list) || list.length === 0 || list.length > MOST_KEYS) {
    throw badRequest(`key_IDs shall be an array of 1 to ${MOST_KEYS} objects with a key_ID`);
  }
  const ids = list.map((one) => uuidOf(memberOf(one)));
  if (new Set(ids).size < ids.length) throw badRequest('a key_ID is there twice');
  return ids;
}

function memberOf(one: unknown): unknown {
  return typeof one === 'object' && one !== null && 'key_ID' in one ? one.key_ID : undefined;
}

function members<Name extends string>(
  body: string,
  names: readonly Name[],
): Partial<Record<Name, unknown>> {
  const value = parsed(body);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw badRequest('the body shall be a JSON object');
  }
  const unknown = Object.keys(value).find((name) => !names.some((one) => one === name));
  if (unknown !== undefined) throw badRequest(`there is no member ${JSON.stringify(unknown)}`);
  return value as Partial<Record<Name, unknown>>;
}

function parsed(body: string): unknown {
  try {
    return parseReceiptText(body);
  } catch (error) {
    throw badRequest(
      `the body shall be JSON: ${error instanceof Error ? error.message : 'it is not'}`,
    );
  }
}

function countOf(name: string, value: unknown): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= MOST_KEYS) {
    return value;
  }
  throw badRequest(`${name} shall be a whole number from 1 to ${MOST_KEYS}`);
}

function sizeOf(value: unknown): KeySize {
  const size = KEY_SIZES.find((one) => one === value);
  if (size !== undefined) return size;
  if (typeof value === 'number' && value % 8 !== 0)
    throw badRequest('size shall be a multiple of 8');
  throw badRequest(`size shall be one of ${KEY_SIZES.join(', ')}`);
}

function furtherOf(value: unknown): string[] {
  const isList = Array.isArray(value) && value.every((one) => typeof one === 'string');
  if (!isList || new Set(value).size < value.length || value.length > MOST_FURTHER) {
    throw badRequest(
      `additional_slave_SAE_IDs shall be an array of at most ${MOST_FURTHER} different IDs`,
    );
  }
  return value;
}

/** Clause 6.2: "KME shall handle or return an error". This one handles none. */
function refuseMandatory(value: unknown): void {
  const list = [value ?? []].flat();
  const names = list.flatMap((one) => Object.keys(Object(one)));
  if (list.length === 0) return;
  throw badRequest('not all extension_mandatory parameters are supported', [
    { extension_mandatory_unsupported: `${names.join(', ') || 'the parameter'} is not supported` },
  ]);
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

function uuidOf(value: unknown): string {
  const id = typeof value === 'string' ? value.toLowerCase() : '';
  if (UUID.test(id)) return id;
  throw badRequest('each key_ID shall be a UUID');
}
