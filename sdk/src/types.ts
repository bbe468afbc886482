/** The bodies of the service by name, taken out of its OpenAPI document. */
import type { operations, paths } from './schema.ts';

type Operation = keyof operations;

type Body<O extends Operation> = operations[O] extends {
  requestBody: { content: { 'application/json': infer B } };
}
  ? B
  : never;

type Answer<O extends Operation> = operations[O] extends {
  responses: { 200: { content: { 'application/json': infer B } } };
}
  ? B
  : never;

type Query<O extends Operation> = operations[O] extends { parameters: { query?: infer Q } }
  ? NonNullable<Q>
  : never;

type Problem = operations['generate']['responses'][503]['content']['application/problem+json'];

/** The stable codes of the service's errors. */
export type ErrorCode = Problem['code'];

export type GenerateRequest = Body<'generate'>;
export type GeneratedKey = Answer<'generate'>;
/** All that the suite found: with `include: ['nist_report']`. */
export type NistReport = NonNullable<GeneratedKey['nist_report']>;

export type ValidateRequest = Body<'validate'>;
export type Validation = Answer<'validate'>;

export type MetricsQuery = Query<'metrics'>;
export type Metrics = Answer<'metrics'>;

export type SeriesQuery = Query<'metricsSeries'>;
export type Series = Answer<'metricsSeries'>;

export type RandomnessQuery = Query<'randomness'>;
export type Randomness = Answer<'randomness'>;

export type Health = paths['/health']['get']['responses'][200]['content']['application/json'];
