/** Revokes keys, one call after the other. */
import { useState } from 'preact/hooks';
import type { KeyInfo, RevocationReason } from '../api.ts';
import { useSession } from '../session.tsx';

export interface Progress {
  readonly done: number;
  readonly total: number;
}

/** The first failure ends it; `retry` goes on with the keys that are left. `onRevoked` gets the record of each revoked key. */
export function useRevocations(keys: readonly KeyInfo[], onRevoked: (info: KeyInfo) => void) {
  const { call } = useSession();
  const [reason, setReason] = useState<RevocationReason>();
  const [progress, setProgress] = useState<Progress>();
  const [isWorking, setWorking] = useState(false);
  const [error, setError] = useState<unknown>();
  const revoke = async (given: RevocationReason) => {
    setReason(given);
    setWorking(true);
    setError(undefined);
    let done = 0;
    setProgress({ done, total: keys.length });
    try {
      for (const { key_id: id } of keys) {
        const { key } = await call((client) => client.revokeKey(id, given));
        done += 1;
        setProgress({ done, total: keys.length });
        onRevoked(key);
      }
    } catch (failure) {
      setError(failure);
    } finally {
      setWorking(false);
    }
  };
  const retry = () => reason !== undefined && keys.length > 0 && void revoke(reason);
  return { progress, isWorking, error, revoke, retry };
}
