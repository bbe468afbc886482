/** Hooks that every route with a body runs before its handler. */
import type { FastifyRequest } from 'fastify';
import type { TObject } from 'typebox';
import { AppError } from '../../errors.ts';
import { noteUnknownFields, refuseUnknownFields } from './unknown-fields.ts';

/** Returns the hooks of a route with a body of this schema and no query. `smallest` is a valid body, for messages. */
export function takesBody(schema: TObject, smallest: string) {
  const known = { body: Object.keys(schema.properties), query: [] };
  return {
    preValidation: async (request: FastifyRequest): Promise<void> => {
      if (request.body === undefined) throw missingBody(smallest);
      noteUnknownFields(request, known);
    },
    preHandler: refuseUnknownFields,
  };
}

function missingBody(smallest: string): AppError {
  return new AppError('malformed_json', {
    detail: 'The body is missing.',
    remedy: `The smallest valid body is ${smallest}.`,
  });
}
