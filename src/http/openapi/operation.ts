/** What the OpenAPI document says of an operation beside the schema of its route. */
import type { PlainRead } from './code-samples.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Every documented route has them. */
    readonly docs?: OperationDocs;
  }
}

export interface OperationDocs {
  /** Markdown. */
  readonly description: string;
  /** Operations that take fields of a 200 response. */
  readonly links?: Readonly<Record<string, Link>>;
  /** Called when the document is asked for: some import examples that are files, which a server reads only then. */
  readonly examples: () => OperationExamples | Promise<OperationExamples>;
}

interface Link {
  readonly operationId: string;
  /** Says which fields to pass. An expression for each field would make openapi-generator refuse the document. */
  readonly description: string;
}

export interface OperationExamples {
  /** Parameters of a plain read: with them, the programs of the operation are made (`code-samples.ts`). */
  readonly query?: PlainRead['query'];
  /** Request bodies, by name. */
  readonly requests?: Readonly<Record<string, Example>>;
  /** Bodies of 200, by name. */
  readonly answers: Readonly<Record<string, Example>>;
}

interface Example {
  readonly summary: string;
  readonly value: unknown;
}

export const EXAMPLE_TIMESTAMP = '2026-01-31T12:00:00.000+00:00';
