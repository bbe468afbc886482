/** GET /api/v2/deliveries and /deliveries/{delivery_id}, POST /deliveries/fetch and /remove: not metered. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import { formatTimestamp, SECOND_MS } from '../../clock.ts';
import { AppError, type FieldError } from '../../errors.ts';
import { formatDeliveryId, formatKeyId, parseDeliveryId } from '../../keys/index.ts';
import { BOX_STATES, type CopyAction, type TakenCopy } from '../../ledger/index.ts';
import { refuseRecipient } from '../api-key-rules.ts';
import type { RouteContext } from '../context.ts';
import { takesBody } from '../wire/body.ts';
import {
  AnyDeliveryId,
  CopiesBody,
  CopyList,
  CopyListQuery,
  type CopyStateBody,
  DEFAULT_PAGE,
  DeliveryResult,
  type FetchedCopyBody,
  FetchResult,
  MAX_LIST_WAIT_SECONDS,
  MAX_PAGE,
  RemoveResult,
} from '../wire/delivery-schemas.ts';
import {
  type Parameter,
  refuseParameter,
  takesQuery,
  wholeNumber,
  wordOutOf,
} from '../wire/query.ts';
import { BODY_ERRORS, KEYED_ERRORS, responses } from '../wire/responses.ts';
import { MAX_RECIPIENT_NAME } from '../wire/sealed-schemas.ts';
import { Type } from '../wire/type.ts';
import { warningsOf } from '../wire/unknown-fields.ts';
import { FETCH_DOCS, LIST_DOCS, REMOVE_DOCS, STATE_DOCS } from './deliveries-docs.ts';
import { readReceipts } from './key-receipts.ts';

const PATH = '/api/v2/deliveries';

const KEY_ID_BYTES = 16;

const SMALLEST = '{"recipient": "<name>", "ids": ["3c1f0a52-7c1e-4a0b-9f55-0d8f6a2b9e11"]}';

/** The parameters. `PARAMETERS` has found that each can be read. */
interface ReadQuery {
  readonly recipient: string;
  readonly state?: (typeof BOX_STATES)[number];
  readonly limit?: number;
  readonly cursor?: string;
  readonly wait?: number;
}

const PARAMETERS: Readonly<Record<keyof ReadQuery, Parameter>> = {
  recipient: {
    expected: `must be the name of a recipient, 1 to ${MAX_RECIPIENT_NAME} characters, given once`,
    read: (text) => (text.length > 0 && text.length <= MAX_RECIPIENT_NAME ? text : undefined),
  },
  state: wordOutOf(BOX_STATES),
  limit: wholeNumber(1, MAX_PAGE),
  cursor: {
    expected: 'must be the next_cursor of an earlier page, given once',
    read: (text) => (readCursor(text) ? text : undefined),
  },
  wait: wholeNumber(1, MAX_LIST_WAIT_SECONDS),
};

export function deliveryRoutes(app: FastifyInstance, context: RouteContext): void {
  listRoute(app, context);
  takeRoute(app, context, 'fetch');
  takeRoute(app, context, 'remove');
  stateRoute(app, context);
}

function listRoute(app: FastifyInstance, context: RouteContext): void {
  const { authenticator, service, clock } = context;
  app.get<{ Querystring: ReadQuery }>(
    PATH,
    {
      schema: {
        operationId: 'listDeliveries',
        summary: 'The copies that wait for a recipient, oldest first',
        tags: ['deliveries'],
        querystring: CopyListQuery,
        response: responses(CopyList, [...KEYED_ERRORS, 'invalid_request']),
      },
      config: { scope: 'receive', docs: LIST_DOCS },
      ...takesQuery(PARAMETERS),
    },
    async (request, reply): Promise<Static<typeof CopyList>> => {
      const {
        recipient,
        state = 'waiting',
        limit = DEFAULT_PAGE,
        cursor,
        wait = 0,
      } = request.query;
      if (wait > 0 && state !== 'waiting') {
        throw refuseParameter('wait', 'can be given only with state waiting, or without state');
      }
      const { accountId } = authenticator.principal(request);
      refuseRecipient(authenticator.principal(request), recipient);
      const afterKeyId = cursor === undefined ? null : (readCursor(cursor) ?? null);
      const page = await service.deliveries.list(
        { accountId, recipient, state, afterKeyId, limit },
        wait * SECOND_MS,
        gone(reply),
      );
      return {
        success: true,
        deliveries: page.copies.map(({ deliveryId, keyId, untilMs }) => ({
          delivery_id: formatDeliveryId(deliveryId),
          key_id: formatKeyId(keyId),
          until: formatTimestamp(untilMs),
        })),
        next_cursor: page.next && base64Url(page.next),
        timestamp: formatTimestamp(clock.nowMs()),
        ...warningsOf(request),
      };
    },
  );
}

/** Returns a signal that aborts when the client goes before its answer. */
function gone(reply: FastifyReply): AbortSignal {
  const controller = new AbortController();
  reply.raw.once('close', () => controller.abort());
  if (reply.raw.destroyed) controller.abort();
  return controller.signal;
}

function takeRoute(app: FastifyInstance, context: RouteContext, action: CopyAction): void {
  const { authenticator, service, clock } = context;
  const isFetch = action === 'fetch';
  app.post<{ Body: Static<typeof CopiesBody> }>(
    `${PATH}/${action}`,
    {
      schema: {
        operationId: isFetch ? 'fetchDeliveries' : 'removeDeliveries',
        summary: isFetch ? 'Fetch sealed keys' : 'Remove copies',
        tags: ['deliveries'],
        body: CopiesBody,
        response: responses(isFetch ? FetchResult : RemoveResult, [
          ...KEYED_ERRORS,
          ...BODY_ERRORS,
          'delivery_not_found',
          ...(isFetch ? (['delivery_gone'] as const) : []),
        ]),
      },
      config: { scope: 'receive', docs: isFetch ? FETCH_DOCS : REMOVE_DOCS },
      ...takesBody(CopiesBody, SMALLEST),
    },
    async (request, reply) => {
      const { recipient, ids } = request.body;
      const principal = authenticator.principal(request);
      const deliveryIds = readIds(ids);
      refuseRecipient(principal, recipient);
      authenticator.takeMore(request, reply, ids.length, `A request for ${ids.length} copies`);
      const { accountId } = principal;
      const copies = await service.deliveries.take({ accountId, recipient, action, deliveryIds });
      const states = ids.map((id, i): CopyStateBody => {
        return { delivery_id: id, state: copies[i]?.state ?? 'unknown' };
      });
      refuseAll(states, isFetch);
      return {
        success: true,
        deliveries: isFetch ? await fetched(request, states, copies, context) : states,
        timestamp: formatTimestamp(clock.nowMs()),
        ...warningsOf(request),
      };
    },
  );
}

/** Throws if no ID is known, or no copy can be fetched. The problem has the state of each. */
function refuseAll(states: readonly CopyStateBody[], isFetch: boolean): void {
  const isNone = (found: (state: CopyStateBody['state']) => boolean) =>
    !states.some(({ state }) => found(state));
  const members = { deliveries: [...states] };
  if (isNone((state) => state !== 'unknown')) throw new AppError('delivery_not_found', { members });
  if (isFetch && isNone((state) => state === 'received')) {
    throw new AppError('delivery_gone', { members });
  }
}

/** Returns the sealed keys of copies that are received, with the receipts of their keys. */
async function fetched(
  request: FastifyRequest,
  states: readonly CopyStateBody[],
  copies: readonly (TakenCopy | null)[],
  context: RouteContext,
): Promise<FetchedCopyBody[]> {
  const received = copies.filter((copy) => copy?.state === 'received');
  const hasLog = context.service.log.status().state !== 'off';
  const keyIds = hasLog ? received.map((copy) => formatKeyId((copy as TakenCopy).keyId)) : [];
  const receipts = await readReceipts(request, keyIds, context);
  const ofKey = new Map(keyIds.map((keyId, i) => [keyId, receipts[i]]));
  return states.map((state, i) => {
    const copy = copies[i];
    if (!copy) return state;
    const keyId = formatKeyId(copy.keyId);
    const facts = { ...state, key_id: keyId, until: formatTimestamp(copy.untilMs) };
    if (copy.sealedKey === null) return facts;
    return { ...facts, sealed_key: JSON.parse(copy.sealedKey), ...ofKey.get(keyId) };
  });
}

function stateRoute(app: FastifyInstance, context: RouteContext): void {
  const { authenticator, service, clock } = context;
  app.get<{ Params: { readonly delivery_id: string } }>(
    `${PATH}/:delivery_id`,
    {
      schema: {
        operationId: 'getDelivery',
        summary: 'The states of a delivery at its recipients',
        tags: ['deliveries'],
        params: Type.Object({ delivery_id: AnyDeliveryId }),
        response: responses(DeliveryResult, [
          ...KEYED_ERRORS,
          'invalid_request',
          'delivery_not_found',
        ]),
      },
      config: { scope: ['generate', 'read'], docs: STATE_DOCS },
      ...takesQuery({}),
    },
    async (request): Promise<Static<typeof DeliveryResult>> => {
      const deliveryId = parseDeliveryId(request.params.delivery_id);
      if (!deliveryId) throw malformedId();
      const { accountId } = authenticator.principal(request);
      const found = await service.deliveries.find(accountId, deliveryId);
      if (!found) throw new AppError('delivery_not_found');
      return {
        success: true,
        delivery: {
          delivery_id: formatDeliveryId(found.deliveryId),
          key_id: formatKeyId(found.keyId),
          until: formatTimestamp(found.untilMs),
          recipients: found.copies.map(({ recipient, state, receivedMs }) => ({
            recipient,
            state,
            received_at: receivedMs === null ? null : formatTimestamp(receivedMs),
          })),
        },
        timestamp: formatTimestamp(clock.nowMs()),
        ...warningsOf(request),
      };
    },
  );
}

/** Unknown deliveries and those of other accounts get the same error. */
function malformedId(): AppError {
  const detail = 'The path has no ID of a delivery, a lower-case UUID.';
  const remedy = 'Use the "deliver.id" of the request for the key.';
  return new AppError('delivery_not_found', { detail, remedy });
}

/** Returns the IDs. Throws `invalid_request` for others than lower-case UUIDs that all differ. */
function readIds(ids: readonly string[]): Uint8Array[] {
  const fields = ids.flatMap((id, i): FieldError[] => {
    const pointer = `#/ids/${i}`;
    const first = ids.indexOf(id);
    if (!parseDeliveryId(id)) return [{ pointer, message: 'must be a lower-case UUID' }];
    return first === i ? [] : [{ pointer, message: `must differ from the ID at ${first}` }];
  });
  if (fields.length > 0) throw new AppError('invalid_request', { fields });
  return ids.map((id) => parseDeliveryId(id) as Uint8Array);
}

/** Returns the key ID after which a page begins; undefined if the text has another form. */
function readCursor(text: string): Uint8Array | undefined {
  // A copy: the buffer is a part of a larger one, which a message to the statistics worker would copy whole.
  const bytes = new Uint8Array(Buffer.from(text, 'base64url'));
  return bytes.length === KEY_ID_BYTES && base64Url(bytes) === text ? bytes : undefined;
}

function base64Url({ buffer, byteOffset, length }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, length).toString('base64url');
}
