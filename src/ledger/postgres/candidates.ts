/** Rows by the fingerprint of a commitment. */
import { MAX_CANDIDATES } from '../commitments.ts';

/**
 * Selects rows by fingerprint, the first column of the index. Exported for its tests, which read its plan.
 */
export const CANDIDATES = `
  SELECT position, found.key_id AS "keyId", found.commitment, found.secret_version AS version
  FROM unnest($1::bigint[]) WITH ORDINALITY AS asked (fingerprint, position)
  CROSS JOIN LATERAL (
    SELECT key_id, commitment, secret_version FROM ledger
    WHERE ledger.fingerprint = asked.fingerprint LIMIT ${MAX_CANDIDATES}) AS found`;
