/** Converts rows of `validated_keys` for both stores. */
import { keyIdMs } from './key-time.ts';
import type { KeyEvidence } from './store.ts';

/** Converts the rows, newest first, to evidence, oldest first. */
export function toKeyEvidence(rows: readonly Record<string, unknown>[]): KeyEvidence[] {
  return rows.toReversed().map(({ keyId, definition, pValues }) => ({
    atMs: keyIdMs(keyId as Uint8Array),
    definition: Number(definition),
    pValues: pValues as Uint8Array,
  }));
}
