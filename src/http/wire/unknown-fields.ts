/**
 * Unknown fields of a request. They are ignored with a warning in the response, or refused if the request has
 * `Prefer: handling=strict` (RFC 7240 §4.4).
 */
import type { FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import { AppError, type FieldError } from '../../errors.ts';
import { bodyPointer, labelOf, nameOf, queryPointer, quoteName } from './field-names.ts';
import { nearestName } from './nearest-name.ts';
import { requestedHandling } from './prefer.ts';
import type { Warning } from './schemas.ts';

type WarningBody = Static<typeof Warning>;

/** Maximum number of unknown fields that are named; a last warning counts the others. */
const MAX_NAMED = 8;

export interface KnownNames {
  readonly body: readonly string[];
  readonly query: readonly string[];
}

interface UnknownField {
  readonly pointer: string;
  /** Pointer to the field that the client may have meant. */
  readonly guess: string | undefined;
}

const noted = new WeakMap<FastifyRequest, readonly UnknownField[]>();

/** Notes the unknown fields of a request's body and query. */
export function noteUnknownFields(request: FastifyRequest, known: KnownNames): void {
  const body = unknownNames(request.body, known.body);
  const query = unknownNames(request.query, known.query);
  if (body.length === 0 && query.length === 0) return;
  const inBody = guesser(known.body, request.body);
  const inQuery = guesser(known.query, request.query);
  noted.set(request, [
    ...body.map((name, i) => {
      const guess = i < MAX_NAMED ? inBody(name) : undefined;
      return { pointer: bodyPointer(name), guess: guess && bodyPointer(guess) };
    }),
    ...query.map((name, i) => {
      const pointer = queryPointer(name);
      if (known.body.includes(name)) return { pointer, guess: bodyPointer(name) };
      const guess = i < MAX_NAMED ? inQuery(name) : undefined;
      return { pointer, guess: guess && queryPointer(guess) };
    }),
  ]);
}

/** Returns `{ warnings }` for the response, or an empty object if there is nothing to warn about. */
export function warningsOf(request: FastifyRequest): { warnings?: WarningBody[] } {
  const fields = noted.get(request);
  if (!fields) return {};
  const warnings = fields.slice(0, MAX_NAMED).map((field) => {
    const { pointer } = field;
    const sentence = `${labelOf(pointer)} ${describe(field)} and was ignored${hint(field)}`;
    return warning(pointer, sentence.endsWith('?') ? sentence : `${sentence}.`);
  });
  const more = fields.length - warnings.length;
  if (more > 0) {
    const pointer = fields.at(-1)?.pointer.slice(0, 1) ?? '#';
    const what = more === 1 ? '1 more field is' : `${more} more fields are`;
    warnings.push(warning(pointer, `${what} unknown and ignored.`));
  }
  return { warnings };
}

/** Returns the unknown fields as errors, if the request has strict handling. */
export function unknownFieldErrors(request: FastifyRequest): FieldError[] {
  if (requestedHandling(request.headers.prefer) !== 'strict') return [];
  const fields = noted.get(request) ?? [];
  return fields.map((field) => ({
    pointer: field.pointer,
    message: `${describe(field)}${hint(field)}`,
  }));
}

/** Returns the name of an unknown field that may have been sent instead of a missing one, or undefined. */
export function givenInsteadOf(request: FastifyRequest, missing: string): string | undefined {
  const field = noted.get(request)?.find(({ guess }) => guess === missing);
  return field && labelOf(field.pointer).replace(/^Query/, 'query');
}

/** A hook that throws `invalid_request` for unknown fields, if the request has strict handling. */
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

/** Returns a function that guesses among the known names that the request does not have. */
function guesser(known: readonly string[], part: unknown) {
  const free = known.filter((name) => !Object.hasOwn(part ?? {}, name));
  return (name: string) => nearestName(name, free);
}

const isOfBody = (pointer: string) => pointer.startsWith('#');

function describe({ pointer }: UnknownField): string {
  return isOfBody(pointer) ? 'is not a known field' : 'is not known';
}

/** Returns a suggestion as the end of a sentence, or an empty string. */
function hint({ pointer, guess }: UnknownField): string {
  if (guess === undefined) return '';
  if (isOfBody(guess) && !isOfBody(pointer)) return '; it is a field of the body';
  return `; did you mean ${quoteName(nameOf(guess))}?`;
}
