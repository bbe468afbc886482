/**
 * Stage 5 of 8. In: key bytes. Out: keyed commitments for the ledger, proof strings for the owner, and MACs
 * of entries that wait for the log. Standard: HMAC (FIPS 198-1) and HKDF (RFC 5869) with SHA-256.
 * `keyring.ts` computes commitments and proofs.
 */
export { HmacKey } from './hmac.ts';
export { type Commitment, Keyring } from './keyring.ts';
export { deriveLogMacKeys, type LogMacKey, LogMacKeys } from './log-mac.ts';
export {
  formatMasterSecret,
  MAX_VERSION,
  type MasterSecret,
  type MasterSecretVersion,
  newMasterSecret,
  parseMasterSecret,
} from './secret-text.ts';
export { proofSelfTest } from './self-test.ts';
