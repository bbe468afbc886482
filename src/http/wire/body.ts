/** Hooks that every route with a body runs before its handler. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { TObject, TSchema } from 'typebox';
import { AppError } from '../../errors.ts';
import { bodyPointer } from './field-names.ts';
import { noteUnknownFields, refuseUnknownFields } from './unknown-fields.ts';

/** Fields that a body must not have or that have no effect in it, with the path that takes them. */
export type FieldsElsewhere = Readonly<Record<string, string>>;

/**
 * Returns the hooks of a route with a body of this schema and no query. `smallest` is a valid body, for messages.
 * `harmless` are fields that another path takes, and that are ignored here.
 */
export function takesBody(
  schema: TObject,
  smallest: string,
  elsewhere: FieldsElsewhere = {},
  harmless: FieldsElsewhere = {},
) {
  const misplaced = Object.keys(elsewhere);
  const known = {
    body: Object.keys(schema.properties),
    within: fieldsWithin(schema),
    query: [],
    elsewhere: harmless,
  };
  return {
    preValidation: (request: FastifyRequest, _reply: FastifyReply, done: () => void): void => {
      if (request.body === undefined) throw missingBody(smallest);
      const name = misplaced.find((one) => Object.hasOwn(Object(request.body), one));
      if (name !== undefined) throw misplacedField(name, elsewhere[name] ?? '');
      noteUnknownFields(request, known);
      done();
    },
    preHandler: refuseUnknownFields,
  };
}

/** Returns the names of the fields of those fields that are objects, or may be. */
function fieldsWithin({ properties }: TObject): [place: string, names: readonly string[]][] {
  return Object.entries(properties).flatMap(([name, schema]) => {
    const { anyOf = [schema] } = schema as { readonly anyOf?: readonly TSchema[] };
    const object = anyOf.find((one) => 'properties' in one) as TObject | undefined;
    return object ? [[name, Object.keys(Object(object.properties))]] : [];
  });
}

function misplacedField(name: string, path: string): AppError {
  const message = `is a field of ${path}: send the request there`;
  return new AppError('invalid_request', { fields: [{ pointer: bodyPointer(name), message }] });
}

function missingBody(smallest: string): AppError {
  return new AppError('malformed_json', {
    detail: 'The body is missing.',
    remedy: `The smallest valid body is ${smallest}.`,
  });
}
