/** What one step of a request notes for later ones. */
import type { FastifyInstance } from 'fastify';
import type { ErrorCode } from '../errors.ts';
import type { Principal } from '../ledger/index.ts';
import type { AnsweredOrder } from './wire/answer-check.ts';
import type { UnknownField } from './wire/unknown-fields.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Null until `Authenticator` has found a valid API key. */
    principal: Principal | null;
    /** Unknown fields of the body and the query; null if there are none. */
    unknownFields: readonly UnknownField[] | null;
    /** Code of the problem that answers the request, or null. */
    problem: ErrorCode | null;
    /** True if the problem is `overloaded` because the caller fills its own share of a queue. */
    ownShare: boolean;
    /** How many keys the answer has; null if it is not one with keys. */
    keys: number | null;
    /** What the text of an answer with keys in plaintext must fit; null for any other. */
    answered: AnsweredOrder | null;
    /** True if the answer is one plain key, without validation and without a receipt: work that waits for no suite or log. */
    isPlainKey: boolean;
    /** True if the request repeated an `Idempotency-Key` and made no second key. */
    replayed: boolean;
  }
}

/**
 * Gives every request its notes. They are properties, because an entry of a `WeakMap` for each request makes every
 * garbage collection of young objects longer.
 */
export function addRequestNotes(app: FastifyInstance): void {
  app.decorateRequest('principal', null);
  app.decorateRequest('unknownFields', null);
  app.decorateRequest('problem', null);
  app.decorateRequest('ownShare', false);
  app.decorateRequest('keys', null);
  app.decorateRequest('answered', null);
  app.decorateRequest('isPlainKey', false);
  app.decorateRequest('replayed', false);
}
