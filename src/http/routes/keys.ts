/** GET /api/v2/keys, GET /api/v2/keys/{key_id}, POST /api/v2/keys/{key_id}/revoke: not metered. */
import type { FastifyInstance } from 'fastify';
import type { Static } from 'typebox';
import { formatTimestamp } from '../../clock.ts';
import { AppError } from '../../errors.ts';
import {
  formatDeliveryId,
  formatKeyId,
  isLabelName,
  isLabelValue,
  KEY_STATUSES,
  keyStatus,
  LABEL_NAME,
  LABEL_VALUE,
  MAX_LABELS,
  parseKeyId,
} from '../../keys/index.ts';
import type { KeyRecord, SettledRevocation } from '../../ledger/index.ts';
import type { KeyFilter } from '../../service/index.ts';
import type { RouteContext } from '../context.ts';
import { takesBody } from '../wire/body.ts';
import {
  DEFAULT_LIMIT,
  EVIDENCE_FILTERS,
  type KeyInfoBody,
  KeyInfoResult,
  KeyList,
  KeyListQuery,
  MAX_LIMIT,
  MIN_LIMIT,
  RevokeBody,
} from '../wire/key-record-schemas.ts';
import {
  numberOutOf,
  type Parameter,
  refuseParameter,
  takesQuery,
  wholeNumber,
  wordOutOf,
} from '../wire/query.ts';
import { KeyId } from '../wire/receipt-schemas.ts';
import { BODY_ERRORS, KEYED_ERRORS, responses } from '../wire/responses.ts';
import { parseTimestamp } from '../wire/timestamp.ts';
import { Type } from '../wire/type.ts';
import { warningsOf } from '../wire/unknown-fields.ts';
import { LIST_DOCS, READ_DOCS, REVOKE_DOCS } from './keys-docs.ts';
import { receiptPath } from './receipt.ts';

const PATH = '/api/v2/keys';

const Params = Type.Object({ key_id: KeyId });

/** Longest text of a filter by source or API key. */
const MAX_TEXT = 100;

const KEY_ID_BYTES = 16;

/** The parameters. `PARAMETERS` has found that each can be read. */
interface ReadQuery {
  readonly limit?: number;
  readonly cursor?: string;
  readonly created_after?: string;
  readonly created_before?: string;
  readonly security_level?: number;
  readonly source?: string;
  readonly label?: readonly string[];
  readonly evidence?: (typeof EVIDENCE_FILTERS)[number];
  readonly api_key_id?: string;
  readonly status?: (typeof KEY_STATUSES)[number];
  readonly expires_before?: string;
  readonly revoked?: boolean;
}

const time: Parameter = {
  expected:
    'must be a date-time with its offset (RFC 3339), such as 2027-01-31T12:00:00Z, given once (in a URL, + is written as %2B)',
  read: (text) => (parseTimestamp(text) === undefined ? undefined : text),
};

const shortText: Parameter = {
  expected: `must be 1 to ${MAX_TEXT} characters, given once`,
  read: (text) => (text.length > 0 && text.length <= MAX_TEXT ? text : undefined),
};

const PARAMETERS: Readonly<Record<keyof ReadQuery, Parameter>> = {
  limit: wholeNumber(MIN_LIMIT, MAX_LIMIT),
  cursor: {
    expected: 'must be the next_cursor of an earlier page, given once',
    read: (text) => (readCursor(text) ? text : undefined),
  },
  created_after: time,
  created_before: time,
  security_level: numberOutOf([128, 256, 384]),
  source: shortText,
  label: {
    expected: `must be name:value, given at most ${MAX_LABELS} times; name: ${LABEL_NAME}; value: ${LABEL_VALUE}`,
    read: (text) => (readLabel(text) ? text : undefined),
    times: MAX_LABELS,
  },
  evidence: wordOutOf(EVIDENCE_FILTERS),
  api_key_id: shortText,
  status: wordOutOf(KEY_STATUSES),
  expires_before: time,
  revoked: {
    expected: 'must be true or false, given once',
    read: (text) => [true, false].find((one) => String(one) === text),
  },
};

export function keyRoutes(app: FastifyInstance, context: RouteContext): void {
  listRoute(app, context);
  readRoute(app, context);
  revokeRoute(app, context);
}

function listRoute(app: FastifyInstance, context: RouteContext): void {
  const { authenticator, service, clock } = context;
  app.get<{ Querystring: ReadQuery }>(
    PATH,
    {
      schema: {
        operationId: 'listKeys',
        summary: 'The keys of the account, newest first',
        tags: ['keys'],
        querystring: KeyListQuery,
        response: responses(KeyList, [...KEYED_ERRORS, 'invalid_request']),
      },
      config: { scope: 'read', docs: LIST_DOCS },
      ...takesQuery(PARAMETERS),
    },
    async (request): Promise<Static<typeof KeyList>> => {
      const nowMs = clock.nowMs();
      const { query } = request;
      const { accountId } = authenticator.principal(request);
      const page = await service.records.list({
        accountId,
        filter: filterOf(query),
        after: query.cursor === undefined ? null : (readCursor(query.cursor) ?? null),
        limit: query.limit ?? DEFAULT_LIMIT,
        nowMs,
      });
      return {
        success: true,
        keys: page.keys.map((record) => toKeyInfo(record, nowMs, context)),
        next_cursor: page.next && base64Url(page.next),
        timestamp: formatTimestamp(nowMs),
        ...warningsOf(request),
      };
    },
  );
}

function readRoute(app: FastifyInstance, context: RouteContext): void {
  const { authenticator, service, clock } = context;
  app.get<{ Params: Static<typeof Params> }>(
    `${PATH}/:key_id`,
    {
      schema: {
        operationId: 'getKey',
        summary: 'The record of a key',
        tags: ['keys'],
        params: Params,
        response: responses(KeyInfoResult, [...KEYED_ERRORS, 'invalid_request', 'key_not_found']),
      },
      config: { scope: 'read', docs: READ_DOCS },
      ...takesQuery({}),
    },
    async (request): Promise<Static<typeof KeyInfoResult>> => {
      const nowMs = clock.nowMs();
      const keyId = requireKeyId(request.params.key_id);
      const { accountId } = authenticator.principal(request);
      const record = await service.records.read({ accountId, keyId });
      if (record === null) throw new AppError('key_not_found');
      return {
        success: true,
        key: toKeyInfo(record, nowMs, context),
        timestamp: formatTimestamp(nowMs),
        ...warningsOf(request),
      };
    },
  );
}

function revokeRoute(app: FastifyInstance, context: RouteContext): void {
  const { authenticator, service, clock } = context;
  app.post<{ Params: Static<typeof Params>; Body: Static<typeof RevokeBody> }>(
    `${PATH}/:key_id/revoke`,
    {
      schema: {
        operationId: 'revokeKey',
        summary: 'Revoke a key',
        tags: ['keys'],
        params: Params,
        body: RevokeBody,
        response: responses(KeyInfoResult, [...KEYED_ERRORS, ...BODY_ERRORS, 'key_not_found']),
      },
      config: { scope: 'generate', docs: REVOKE_DOCS },
      ...takesBody(RevokeBody, '{"reason": "key_compromise"}'),
    },
    async (request): Promise<Static<typeof KeyInfoResult>> => {
      const atMs = clock.nowMs();
      const keyId = requireKeyId(request.params.key_id);
      const { reason } = request.body;
      const state = reason === 'key_compromise' ? 'compromised' : 'deactivated';
      const principal = authenticator.principal(request);
      const outcome = await service.records.revoke(principal, { keyId, state, reason, atMs });
      return {
        success: true,
        key: toKeyInfo(requireRecord(outcome), atMs, context),
        timestamp: formatTimestamp(atMs),
        ...warningsOf(request),
      };
    },
  );
}

/** Throws `invalid_request` for a period that ends before it begins. */
function filterOf(query: ReadQuery): KeyFilter {
  const fromMs = timeOf(query.created_after);
  const beforeMs = timeOf(query.created_before);
  if (fromMs !== null && beforeMs !== null && beforeMs < fromMs) {
    throw refuseParameter('created_before', 'must not be earlier than created_after');
  }
  return {
    fromMs,
    beforeMs,
    securityLevel: query.security_level ?? null,
    source: query.source ?? null,
    apiKeyId: query.api_key_id ?? null,
    status: query.status ?? null,
    expiresBeforeMs: timeOf(query.expires_before),
    isRevoked: query.revoked ?? null,
    hasEvidence: query.evidence === undefined ? null : query.evidence === 'PASS',
    labels: (query.label ?? []).map(labelOf),
  };
}

function requireRecord(outcome: SettledRevocation): KeyRecord {
  if (outcome.kind === 'unknown') throw new AppError('key_not_found');
  return outcome.record;
}

/** Unknown keys and keys of other accounts get the same error. */
function requireKeyId(text: string): Uint8Array {
  const keyId = parseKeyId(text);
  if (keyId) return keyId;
  const detail = 'The path has no key_id: "phm_" and a decimal number.';
  throw new AppError('key_not_found', {
    detail,
    remedy: 'Use the key_id in the response of generate.',
  });
}

function toKeyInfo(record: KeyRecord, nowMs: number, { basePath }: RouteContext): KeyInfoBody {
  const { evidence, labels, expiresMs, revocation } = record;
  const keyId = formatKeyId(record.keyId);
  const recipients = record.recipients.map((one) => Buffer.from(one).toString('base64'));
  return {
    key_id: keyId,
    status: keyStatus(record, nowMs),
    created_at: formatTimestamp(record.createdMs),
    security_level: record.securityLevel as KeyInfoBody['security_level'],
    security_strength_bits: record.strengthBits,
    modulation_type: record.modulation,
    source: record.source,
    api_key_id: record.apiKeyId,
    evidence: evidence && {
      verdict: 'PASS',
      tests_passed: evidence.testsPassed,
      total_tests: evidence.totalTests,
      gate_p_value: evidence.gateP,
    },
    sealed_to: recipients[0] ?? null,
    recipients,
    delivery_id: record.deliveryId && formatDeliveryId(record.deliveryId),
    labels: labels === null ? {} : JSON.parse(labels),
    expires_at: expiresMs === null ? null : formatTimestamp(expiresMs),
    revoked_at: revocation && formatTimestamp(revocation.revokedMs),
    revocation_reason: revocation ? revocation.reason : null,
    receipt_url: record.hasReceipt ? receiptPath(basePath, keyId) : null,
  };
}

function timeOf(text: string | undefined): number | null {
  return text === undefined ? null : (parseTimestamp(text) ?? null);
}

/** Returns name and value; undefined if the text is no label. */
function readLabel(text: string): readonly [string, string] | undefined {
  const colon = text.indexOf(':');
  const [name, value] = [text.slice(0, colon), text.slice(colon + 1)];
  return colon !== -1 && isLabelName(name) && isLabelValue(value) ? [name, value] : undefined;
}

/** Returns name and value of a text that `PARAMETERS` admits. */
function labelOf(text: string): readonly [string, string] {
  const label = readLabel(text);
  if (!label) throw new Error('the parameter let a wrong label through');
  return label;
}

/**
 * Returns the key ID below which a page begins; undefined if the text has another form. A page ends at a key of its account
 * or at a time in the form of a key ID; at a key of another account only if the page would otherwise be empty. A caller may
 * give any key ID: a page has keys of the caller's account alone.
 */
function readCursor(text: string): Uint8Array | undefined {
  // A copy: the buffer is a part of a larger one, which a message to the statistics worker would copy whole.
  const bytes = new Uint8Array(Buffer.from(text, 'base64url'));
  return bytes.length === KEY_ID_BYTES && base64Url(bytes) === text ? bytes : undefined;
}

function base64Url({ buffer, byteOffset, length }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, length).toString('base64url');
}
