/** What both stores make of their rows of evidence, which the table `validated_keys` holds. */
import { keyIdMs } from './key-time.ts';
import type { KeyEvidence } from './store.ts';

/** The rows of `validated_keys`, newest first, as evidence, oldest first. */
export function toKeyEvidence(rows: readonly Record<string, unknown>[]): KeyEvidence[] {
  return rows.toReversed().map(({ keyId, definition, pValues }) => ({
    atMs: keyIdMs(keyId as Uint8Array),
    definition: Number(definition),
    pValues: pValues as Uint8Array,
  }));
}
