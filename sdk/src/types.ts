/** The bodies of the service by name, taken out of its OpenAPI document. */
import type { components, operations } from './schema.ts';

type Schemas = components['schemas'];

type Query<O extends keyof operations> = operations[O] extends { parameters: { query?: infer Q } }
  ? NonNullable<Q>
  : never;

/** The stable codes of the service's errors. */
export type ErrorCode = Schemas['ErrorCode'];

export type GenerateRequest = Schemas['GenerateRequest'];
export type GeneratedKey = Schemas['GeneratedKey'];
/** All that the suite found: with `include: ['nist_report']`. */
export type NistReport = Schemas['NistReport'];

export type ValidateRequest = Schemas['ValidateRequest'];
export type Validation = Schemas['ValidationResult'];

export type MetricsQuery = Query<'metrics'>;
export type Metrics = Schemas['Metrics'];

export type SeriesQuery = Query<'metricsSeries'>;
export type Series = Schemas['MetricsSeries'];

export type RandomnessQuery = Query<'randomness'>;
export type Randomness = Schemas['Randomness'];

export type Health = Schemas['Health'];
