/**
 * Stage 2 of 8. In: seed material and additional input. Out: pseudorandom bytes.
 * Standard: NIST SP 800-90A Rev. 1, CTR_DRBG with AES-256 and the derivation function.
 */
export {
  CtrDrbg,
  MAX_INPUT_BYTES,
  MAX_REQUEST_BITS,
  RESEED_INTERVAL,
  SECURITY_STRENGTH_BITS,
  SEED_LENGTH_BYTES,
} from './ctr-drbg.ts';
export { answerOf, type KnownAnswer } from './known-answer.ts';
export { DRBG_SELF_TESTS, drbgSelfTest } from './self-test.ts';
