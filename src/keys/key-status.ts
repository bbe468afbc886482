/** Status of a key: SP 800-57 Part 1 Rev. 5, §7, for the states that a key can be in once it is answered. */
import type { KeyEnd } from '../ledger/index.ts';

export const KEY_STATUSES = ['active', 'deactivated', 'compromised'] as const;
export type KeyStatus = (typeof KEY_STATUSES)[number];

/** Returns the status of a key at a time. A key is deactivated by a revocation, or from `expiresMs` on. */
export function keyStatus({ expiresMs, revocation }: KeyEnd, nowMs: number): KeyStatus {
  if (revocation) return revocation.state;
  return expiresMs !== null && expiresMs <= nowMs ? 'deactivated' : 'active';
}
