/** Request bodies: what every route that takes one does before its handler. */
import type { FastifyRequest } from 'fastify';
import type { TObject } from 'typebox';
import { noteUnknownFields, refuseUnknownFields } from './unknown-fields.ts';

/** The hooks of a route that takes a body of this schema, and no query. */
export function takesBody(schema: TObject) {
  const known = { body: Object.keys(schema.properties), query: [] };
  return {
    preValidation: async (request: FastifyRequest): Promise<void> => {
      noteUnknownFields(request, known);
    },
    preHandler: refuseUnknownFields,
  };
}
