/** Self-tests of the proof stage: known answers, and a proof that must not verify. */
import { hexToBytes } from '../bytes.ts';
import { Keyring } from './keyring.ts';
import { parseMasterSecret } from './secret-text.ts';

/** Runs every test. A failed test is a row with `passed: false`; the function never throws. */
export function proofSelfTest(): { name: string; passed: boolean }[] {
  const keyring = new Keyring(parseMasterSecret(SECRET));
  const key = hexToBytes(KEY);
  const otherKey = Buffer.alloc(key.length);
  const commitment = keyring.commit(key).digest.toString('hex');
  const rows = [
    { name: 'proof: known answer, proof', passed: keyring.makeProof(key) === PROOF },
    { name: 'proof: known answer, commitment', passed: commitment === COMMITMENT },
    { name: 'proof: known answer, check value', passed: checkValue(keyring) === CHECK_VALUE },
    { name: 'proof: known answer, MAC of a log entry', passed: logMac(keyring) === LOG_MAC },
    { name: 'proof: verifies its own', passed: keyring.verifyProof(key, PROOF) === 1 },
    { name: 'proof: refuses another key', passed: keyring.verifyProof(otherKey, PROOF) === null },
  ];
  keyring.destroy();
  return rows;
}

function checkValue(keyring: Keyring): string {
  return keyring.checkValue(keyring.currentVersion).toString('hex');
}

function logMac(keyring: Keyring): string {
  const [entryId, entry] = [Buffer.alloc(16, 1), Buffer.alloc(32, 2)];
  return keyring.logMac(keyring.currentVersion, entryId, entry).toString('hex');
}

// From test/vectors/proof/proofs.json: the 256-bit key of the first group. The secret is published.
const SECRET = '1:e877c0f636db36da1f22c969e1f38b0b581d2c6812be22519f0c8398aec7f00f';
const KEY = '7baaf855a72b6592f05d85a48de119e70c00dcea89c029a1cb4895834ae316a7';
const PROOF =
  'proof_176222103161521895344875015762917065097765363889650604502760465408117371738919';
const COMMITMENT = '7c89132801f5668b55ba32dcdfab96d7c67a6efa8cd51fd43727f46e1e38cdfb';
const CHECK_VALUE = 'ae362ee8a035d1461bc1898df0a4ee8b9e48097716059cbb298d2aaeb982621e';
// The entry ID is 16 bytes of 1, the entry 32 bytes of 2.
const LOG_MAC = '97cfa0b67cdc7b9ad16ac2bb97f18799ad5d6fbc0528d2e6bbb687d0ae9371b5';
