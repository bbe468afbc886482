/**
 * The wire, as schemas: what validates requests is what the OpenAPI document is generated from. Here is what the
 * schemas of several endpoints are made of; `key-schemas.ts`, `activity-schemas.ts` and `health-schema.ts` have those of
 * each, and `responses.ts` the problems.
 */
import Type, { type Static, type TSchema } from 'typebox';

export const Timestamp = Type.String({
  format: 'date-time',
  description: 'ISO 8601 date-time with UTC offset',
  examples: ['2026-01-31T12:00:00.000+00:00'],
});

export const Success = Type.Literal(true, { description: 'true: the call succeeded' });

export function oneOf<T extends string | number>(
  values: readonly T[],
  type: 'string' | 'integer',
  description: string,
  extra: Record<string, unknown> = {},
) {
  return Type.Unsafe<T>({ type, enum: [...values], description, ...extra });
}

/** Something that the service did not do as the request may have meant it. */
export const Warning = Type.Object(
  {
    code: oneOf(['unknown_field'], 'string', 'stable code of the warning'),
    pointer: Type.String({ description: '"#/field" in the body, "?name" in the query' }),
    detail: Type.String({ description: 'a sentence for people' }),
  },
  { title: 'Warning' },
);

/** Of every answer: a member that is there only when there is something to warn of. */
export const warnings = Type.Optional(
  Type.Array(Warning, {
    description:
      'fields of the request that this service does not know and ignored: eight, then one entry that counts the others',
  }),
);

/** A field that a body may leave out; null means the same. */
export function leavable<T extends TSchema>(schema: T) {
  const { type, enum: values } = schema as { type?: unknown; enum?: readonly unknown[] };
  return Type.Optional(
    Type.Unsafe<Static<T> | null>({
      ...schema,
      type: [type, 'null'],
      ...(values && { enum: [...values, null] }),
    }),
  );
}

/** The description of every body. */
export const BODY_RULES =
  'null for an optional field means that it is left out. Unknown fields are ignored with a warning; with `Prefer: handling=strict` they are errors.';

/**
 * A number of an answer that a request has chosen among a few. It is any number to clients: the one for Python
 * that openapi-python-client generates cannot read a choice of constants, only send it.
 */
export function chosen<T extends number>(values: readonly T[], description: string) {
  const range = { minimum: Math.min(...values), maximum: Math.max(...values) };
  return Type.Unsafe<T>({ type: 'integer', ...range, description });
}
