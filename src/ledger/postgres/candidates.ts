/** Rows by the fingerprint of a commitment. */
import type { Commitment } from '../../proof/index.ts';
import { type Candidate, MAX_CANDIDATES, matches } from '../commitments.ts';
import type { MeteredRequest } from '../store.ts';
import type { PostgresConnection } from './connection.ts';

/**
 * Selects rows by fingerprint, the first column of the index. Exported for its tests, which read its plan.
 */
export const CANDIDATES = `
  SELECT position, found.key_id AS "keyId", found.commitment, found.secret_version AS version
  FROM unnest($1::bigint[]) WITH ORDINALITY AS asked (fingerprint, position)
  CROSS JOIN LATERAL (
    SELECT key_id, commitment, secret_version FROM ledger
    WHERE ledger.fingerprint = asked.fingerprint LIMIT ${MAX_CANDIDATES}) AS found`;

/** Returns the fingerprints of the keys under the other versions of the master secret. */
export function otherFingerprints(requests: readonly MeteredRequest[]): string[] {
  return requests.flatMap(({ keys }) =>
    keys.flatMap(({ otherCommitments }) =>
      otherCommitments.map(({ fingerprint }) => String(fingerprint)),
    ),
  );
}

/** Returns the positions of requests with a key that the ledger has under another version of the master secret. */
export async function repeatsUnderOtherVersions(
  connection: PostgresConnection,
  requests: readonly MeteredRequest[],
): Promise<ReadonlySet<number>> {
  const { rows } = await connection.run(CANDIDATES, [otherFingerprints(requests)]);
  const candidates = rows as unknown as Candidate[];
  const isRecorded = (one: Commitment) => candidates.some((row) => matches(one, row));
  const isRepeated = ({ keys }: MeteredRequest) =>
    keys.some(({ otherCommitments }) => otherCommitments.some(isRecorded));
  return new Set([...requests.keys()].filter((position) => isRepeated(requests[position])));
}
