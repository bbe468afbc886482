/** Converts rows of `secret_checks` for both stores. */
import type { Retirement, SecretCheck } from './store.ts';

/** Converts the rows to a map by version. `activated` is 0 or 1 if the store has no booleans. */
export function toSecretChecks(
  rows: readonly Record<string, unknown>[],
): ReadonlyMap<number, SecretCheck> {
  return new Map(
    rows.map((row) => [
      Number(row.version),
      {
        checkValue: row.checkValue as Uint8Array,
        activated: Boolean(row.activated),
        retirement: toRetirement(row),
      },
    ]),
  );
}

function toRetirement({ retiredMs, compromisedMs }: Record<string, unknown>): Retirement | null {
  if (retiredMs === null) return null;
  return {
    retiredMs: Number(retiredMs),
    compromisedMs: compromisedMs === null ? null : Number(compromisedMs),
  };
}
