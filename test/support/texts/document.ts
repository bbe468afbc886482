/** Checks real responses against the OpenAPI document with a validator that is not the server's. */
import assert from 'node:assert/strict';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

// biome-ignore lint/suspicious/noExplicitAny: the document is looked into by path.
export type OpenApiDocument = any;

/** Asserts that a body matches the operation's response of this status and has no undocumented member. */
export type AssertAnswer = (operationId: string, status: number, body: unknown) => void;

/**
 * Returns an assertion for the responses of a document. Clients must accept unknown members, so the document
 * allows them. The server must not send any, so the assertion uses the same schemas without that freedom.
 */
export function answersOf(document: OpenApiDocument): AssertAnswer {
  const bodies = new NamedBodies(document);
  return (operationId, status, body) => {
    const { content } = findOperation(document, operationId).responses[status];
    const [{ schema }] = Object.values<OpenApiDocument>(content);
    bodies.assert(schema, body, `${operationId} ${status}`);
  };
}

/** Checks bodies against named schemas and allows no other members. */
export class NamedBodies {
  readonly #ajv: Ajv2020;

  constructor(document: OpenApiDocument) {
    this.#ajv = new Ajv2020({ strict: false, allErrors: true });
    // biome-ignore lint/suspicious/noExplicitAny: the package's default export is mistyped for ESM.
    (addFormats as any)(this.#ajv);
    this.#ajv.addSchema(closeObjects(document), 'document');
  }

  /** Asserts that a body matches the schema that `$ref` names in the document. */
  assert({ $ref }: { $ref: string }, body: unknown, what: string): void {
    const validate = this.#ajv.getSchema(`document${$ref}`);
    assert.ok(validate, `${what}: the document has no ${$ref}`);
    assert.ok(validate(body), `${what}: ${this.#ajv.errorsText(validate.errors)}`);
  }
}

export function operationsOf(document: OpenApiDocument): OpenApiDocument[] {
  return Object.values(document.paths).flatMap((item) => Object.values(item as object));
}

function findOperation(document: OpenApiDocument, operationId: string): OpenApiDocument {
  const found = operationsOf(document).find((operation) => operation.operationId === operationId);
  assert.ok(found, `the document has no operation ${operationId}`);
  return found;
}

/** Returns a copy of the document in which each object has only the members that its schema names. */
function closeObjects(node: OpenApiDocument): OpenApiDocument {
  if (Array.isArray(node)) return node.map(closeObjects);
  if (typeof node !== 'object' || node === null) return node;
  const copy = Object.fromEntries(
    Object.entries(node).map(([key, value]) => [key, closeObjects(value)]),
  );
  const isClosable = node.type === 'object' && node.properties && !('additionalProperties' in node);
  return isClosable ? { ...copy, additionalProperties: false } : copy;
}
