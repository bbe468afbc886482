/**
 * Unknown fields of a request. They are ignored with a warning in the response, or refused if the request has
 * `Prefer: handling=strict` (RFC 7240 §4.4).
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import { AppError, type FieldError } from '../../errors.ts';
import { bodyPointer, labelOf, nameOf, queryPointer, quoteName } from './field-names.ts';
import { nearestName } from './nearest-name.ts';
import { requestedHandling } from './prefer.ts';
import type { Warning } from './schemas.ts';

type WarningBody = Static<typeof Warning>;

/** Maximum number of unknown fields that are named; a last warning counts the others. */
const MAX_NAMED = 8;

interface KnownNames {
  readonly body: readonly string[];
  /** Fields of the body that are objects or lists of them, with the names of their own fields. */
  readonly within?: readonly (readonly [place: string, names: readonly string[]])[];
  readonly query: readonly string[];
  /** Fields of the body that only another path takes, with that path. */
  readonly elsewhere?: Readonly<Record<string, string>>;
}

export interface UnknownField {
  readonly pointer: string;
  /** Pointer to the field that the client may have meant. */
  readonly guess: string | undefined;
  /** Path of the API that takes the field. */
  readonly path?: string | undefined;
}

/** Notes the unknown fields of a request's body, of its objects and of its query. */
export function noteUnknownFields(request: FastifyRequest, known: KnownNames): void {
  const { within = [], elsewhere = {} } = known;
  if (areKnown(request.body, known.body) && areKnown(request.query, known.query)) {
    // As nearly always: no list is needed.
    if (!within.some(([place]) => Object.hasOwn(Object(request.body), place))) return;
  }
  const fields = [
    ...unknownIn(request.body, known.body, (name) => {
      const [place] = within.find(([, names]) => names.includes(name)) ?? [];
      return bodyPointer(name, place);
    }).map((field) => {
      const name = nameOf(field.pointer);
      return Object.hasOwn(elsewhere, name) ? { ...field, path: elsewhere[name] } : field;
    }),
    ...within.flatMap(([place, names]) =>
      partsAt(request.body, place).flatMap(([at, part]) =>
        unknownIn(part, names, (name) => bodyPointer(name, at), at),
      ),
    ),
    ...unknownInQuery(request.query, known),
  ];
  if (fields.length > 0) request.unknownFields = fields;
}

/** Returns the object at a place, or each of a list of them, with its place. */
function partsAt(body: unknown, place: string): [at: string, part: unknown][] {
  const part: unknown = Object(body)[place];
  return Array.isArray(part) ? part.map((one, i) => [`${place}/${i}`, one]) : [[place, part]];
}

/** `toPointer` returns the pointer of a known field, or of an unknown one that has its name elsewhere in the body. */
function unknownIn(
  part: unknown,
  known: readonly string[],
  toPointer: (name: string) => string,
  place?: string,
): UnknownField[] {
  const names = unknownNames(part, known);
  if (names.length === 0) return [];
  const guess = guesser(known, part);
  return names.map((name, i) => {
    const pointer = bodyPointer(name, place);
    const elsewhere = toPointer(name);
    if (elsewhere !== pointer) return { pointer, guess: elsewhere };
    const near = i < MAX_NAMED ? guess(name) : undefined;
    return { pointer, guess: near && toPointer(near) };
  });
}

function unknownInQuery(query: unknown, known: KnownNames): UnknownField[] {
  const names = unknownNames(query, known.query);
  if (names.length === 0) return [];
  const guess = guesser(known.query, query);
  return names.map((name, i) => {
    const pointer = queryPointer(name);
    if (known.body.includes(name)) return { pointer, guess: bodyPointer(name) };
    const near = i < MAX_NAMED ? guess(name) : undefined;
    return { pointer, guess: near && queryPointer(near) };
  });
}

/** Returns `{ warnings }` for the response, or an empty object if there is nothing to warn about. */
export function warningsOf(request: FastifyRequest): { warnings?: WarningBody[] } {
  const fields = request.unknownFields;
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
  const fields = request.unknownFields;
  if (!fields || requestedHandling(request.headers.prefer) !== 'strict') return [];
  return fields.map((field) => ({
    pointer: field.pointer,
    message: `${describe(field)}${hint(field)}`,
  }));
}

/** Returns the name of an unknown field that may have been sent instead of a missing one, or undefined. */
export function givenInsteadOf(request: FastifyRequest, missing: string): string | undefined {
  const field = request.unknownFields?.find(({ guess }) => guess === missing);
  return field && labelOf(field.pointer).replace(/^Query/, 'query');
}

/** A hook that throws `invalid_request` for unknown fields, if the request has strict handling. */
export function refuseUnknownFields(
  request: FastifyRequest,
  _reply: FastifyReply,
  done: () => void,
): void {
  const fields = unknownFieldErrors(request);
  if (fields.length > 0) throw new AppError('invalid_request', { fields });
  done();
}

function warning(pointer: string, detail: string): WarningBody {
  return { code: 'unknown_field', pointer, detail };
}

function unknownNames(part: unknown, known: readonly string[]): string[] {
  if (areKnown(part, known)) return [];
  return Object.keys(Object(part)).filter((name) => !known.includes(name));
}

function areKnown(part: unknown, known: readonly string[]): boolean {
  if (typeof part !== 'object' || part === null || Array.isArray(part)) return true;
  for (const name of Object.keys(part)) if (!known.includes(name)) return false;
  return true;
}

/** Returns a function that guesses among the known names that the request does not have. */
function guesser(known: readonly string[], part: unknown) {
  const free = known.filter((name) => !Object.hasOwn(part ?? {}, name));
  return (name: string) => nearestName(name, free);
}

/** Returns the pointer to the object that has the field. */
const placeOf = (pointer: string) => pointer.slice(0, Math.max(1, pointer.lastIndexOf('/')));

const isOfBody = (pointer: string) => pointer.startsWith('#');

function describe({ pointer }: UnknownField): string {
  return isOfBody(pointer) ? 'is not a known field' : 'is not known';
}

/** Returns a suggestion as the end of a sentence, or an empty string. */
function hint({ pointer, guess, path }: UnknownField): string {
  if (path !== undefined) return `; it is a field of ${path}`;
  if (guess === undefined) return '';
  if (isOfBody(guess) && !isOfBody(pointer)) return '; it is a field of the body';
  const place = placeOf(guess);
  if (place !== placeOf(pointer)) return `; it is a field of ${labelOf(place)}`;
  return `; did you mean ${quoteName(nameOf(guess))}?`;
}
