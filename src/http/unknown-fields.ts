/**
 * Fields of a request that its route does not know. They are ignored with a warning in the answer,
 * or refused where the request asks for `Prefer: handling=strict` (RFC 7240 §4.4).
 */
import type { FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import { AppError, type FieldError } from '../errors.ts';
import { bodyPointer, labelOf, queryPointer } from './field-names.ts';
import { nearestName } from './nearest-name.ts';
import { requestedHandling } from './prefer.ts';
import type { Warning } from './schemas.ts';

type WarningBody = Static<typeof Warning>;

/** Unknown fields that are named one by one; a last warning counts the others. */
const MAX_NAMED = 8;

/** The names that a route knows. */
export interface KnownNames {
  readonly body: readonly string[];
  readonly query: readonly string[];
}

interface UnknownField {
  readonly pointer: string;
  /** What is wrong: "is not a known field". */
  readonly message: string;
  /** What the client may have meant, as the end of a sentence; empty when there is no guess. */
  readonly hint: string;
}

const noted = new WeakMap<FastifyRequest, readonly UnknownField[]>();

/** Notes the unknown fields of a request's body and query. */
export function noteUnknownFields(request: FastifyRequest, known: KnownNames): void {
  const body = unknownNames(request.body, known.body);
  const query = unknownNames(request.query, known.query);
  if (body.length === 0 && query.length === 0) return;
  const bodyHint = hintFrom(known.body, request.body);
  const queryHint = hintFrom(known.query, request.query);
  noted.set(request, [
    ...body.map((name, i) => ({
      pointer: bodyPointer(name),
      message: 'is not a known field',
      hint: i < MAX_NAMED ? bodyHint(name) : '',
    })),
    ...query.map((name, i) => ({
      pointer: queryPointer(name),
      message: 'is not known',
      hint: known.body.includes(name)
        ? '; it is a field of the body'
        : i < MAX_NAMED
          ? queryHint(name)
          : '',
    })),
  ]);
}

/** For the end of an answer: `{ warnings }`, or nothing when there is nothing to warn of. */
export function warningsOf(request: FastifyRequest): { warnings?: WarningBody[] } {
  const fields = noted.get(request);
  if (!fields) return {};
  const warnings = fields.slice(0, MAX_NAMED).map(({ pointer, message, hint }) => {
    const end = hint.endsWith('?') ? hint : `${hint}.`;
    return warning(pointer, `${labelOf(pointer)} ${message} and was ignored${end}`);
  });
  const more = fields.length - warnings.length;
  if (more > 0) {
    const pointer = fields.at(-1)?.pointer.slice(0, 1) ?? '#';
    const what = more === 1 ? '1 more field is' : `${more} more fields are`;
    warnings.push(warning(pointer, `${what} not known and ignored.`));
  }
  return { warnings };
}

/** The unknown fields as errors, if the request asks for strict handling. */
export function unknownFieldErrors(request: FastifyRequest): FieldError[] {
  if (requestedHandling(request.headers.prefer) !== 'strict') return [];
  const fields = noted.get(request) ?? [];
  return fields.map(({ pointer, message, hint }) => ({ pointer, message: `${message}${hint}` }));
}

/** A hook: throws `invalid_request` on unknown fields, if the request asks for strict handling. */
export async function refuseUnknownFields(request: FastifyRequest): Promise<void> {
  const fields = unknownFieldErrors(request);
  if (fields.length > 0) throw new AppError('invalid_request', { fields });
}

function warning(pointer: string, detail: string): WarningBody {
  return { code: 'unknown_field', pointer, detail };
}

function unknownNames(part: unknown, known: readonly string[]): string[] {
  if (typeof part !== 'object' || part === null || Array.isArray(part)) return [];
  return Object.keys(part).filter((name) => !known.includes(name));
}

/** Suggests known names that the request has not given. */
function hintFrom(known: readonly string[], part: unknown): (name: string) => string {
  const free = known.filter((name) => !Object.hasOwn(part ?? {}, name));
  return (name) => {
    const nearest = nearestName(name, free);
    return nearest === undefined ? '' : `; did you mean "${nearest}"?`;
  };
}
