/** Self-tests of the proof stage: known answers for each length of a key, and a proof that must not verify. */
import { hexToBytes } from '../bytes.ts';
import { Keyring } from './keyring.ts';
import { parseMasterSecret } from './secret-text.ts';

/** Runs every test. A failed test is a row with `passed: false`; the function never throws. */
export function proofSelfTest(): { name: string; passed: boolean }[] {
  const keyring = new Keyring(parseMasterSecret(SECRET));
  const answers = ANSWERS.map((answer) => ({ ...answer, key: hexToBytes(answer.key) }));
  const isProof = answers.every(({ key, proof }) => keyring.makeProof(key) === proof);
  const isCommitment = answers.every(
    ({ key, commitment }) => keyring.commit(key).digest.toString('hex') === commitment,
  );
  const verifies = answers.every(({ key, proof }) => keyring.verifyProof(key, proof) === 1);
  const refuses = answers.every(
    ({ key, proof }) => keyring.verifyProof(Buffer.alloc(key.length), proof) === null,
  );
  const rows = [
    { name: 'proof: known answer, proof', passed: isProof },
    { name: 'proof: known answer, commitment', passed: isCommitment },
    { name: 'proof: known answer, check value', passed: checkValue(keyring) === CHECK_VALUE },
    { name: 'proof: known answer, MAC of a log entry', passed: logMac(keyring) === LOG_MAC },
    { name: 'proof: verifies its own', passed: verifies },
    { name: 'proof: refuses another key', passed: refuses },
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

// From test/vectors/proof/proofs.json: the keys of the first group. The secret is published.
const SECRET = '1:e877c0f636db36da1f22c969e1f38b0b581d2c6812be22519f0c8398aec7f00f';
const ANSWERS: readonly {
  readonly key: string;
  readonly proof: string;
  readonly commitment: string;
}[] = [
  {
    key: 'a5d2c872b648fd14c1bc25cd64b4754e',
    proof: 'proof_172953060199349637724051237908657575879727372754140874304932338070074334551668',
    commitment: '503d42da05ffdaad942ab3a2f8a2bece03a3c16ad59d5e5a93b5336e04988098',
  },
  {
    key: '7baaf855a72b6592f05d85a48de119e70c00dcea89c029a1cb4895834ae316a7',
    proof: 'proof_176222103161521895344875015762917065097765363889650604502760465408117371738919',
    commitment: '7c89132801f5668b55ba32dcdfab96d7c67a6efa8cd51fd43727f46e1e38cdfb',
  },
  {
    key: '7cbc68ec5961e4309668da068bdc830da0357fa9c32cbe5aef907c9b9e98212638df7af304b6ec68b27a5a560158b7e3',
    proof: 'proof_123248052718387620690134225274834689691702703971228161029850793213284613162131',
    commitment: 'cf4cab6635575eb23a6d631a1ad9641b4c901492a022b81a96e9b1705b12a3f5',
  },
];
const CHECK_VALUE = 'ae362ee8a035d1461bc1898df0a4ee8b9e48097716059cbb298d2aaeb982621e';
// The entry ID is 16 bytes of 1, the entry 32 bytes of 2.
const LOG_MAC = '97cfa0b67cdc7b9ad16ac2bb97f18799ad5d6fbc0528d2e6bbb687d0ae9371b5';
