/** The scope that an API key needs for each operation. */
import type { Scope } from '../ledger/index.ts';

export const OPERATION_SCOPES = {
  generate: 'generate',
  generateSealed: 'generate',
  generateBatch: 'generate',
  generateSealedBatch: 'generate',
  revokeKey: 'generate',
  validate: 'validate',
  listKeys: 'read',
  getKey: 'read',
  receipt: 'read',
  metrics: 'read',
  metricsSeries: 'read',
  randomness: 'read',
} as const satisfies Readonly<Record<string, Scope>>;

/** An operation that needs an API key, by its operationId. */
export type KeyedOperation = keyof typeof OPERATION_SCOPES;
