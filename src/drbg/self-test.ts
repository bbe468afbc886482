/**
 * Health tests of NIST SP 800-90A Rev. 1 §11.3: known answers for instantiate, generate and reseed
 * (§11.3.2 to §11.3.4), NIST's own and one with the lengths of keys. Tests of errors and destruction, which the standard does not require, are
 * also here.
 */
import { hexToBytes } from '../bytes.ts';
import { CtrDrbg, MAX_REQUEST_BITS } from './ctr-drbg.ts';
import { answerOf, type KnownAnswer } from './known-answer.ts';

/** Runs every health test. A failure is a row with `passed: false`; the function does not throw. */
export function drbgSelfTest(): { name: string; passed: boolean }[] {
  return CHECKS.map(([name, check]) => ({ name, passed: succeeds(check) }));
}

const CHECKS: readonly (readonly [name: string, check: () => boolean])[] = [
  ['CTR_DRBG: known answer, no reseed', () => isKnownAnswer(NO_RESEED)],
  ['CTR_DRBG: known answer, reseed', () => isKnownAnswer(RESEED)],
  ['CTR_DRBG: known answer, prediction resistance', () => isKnownAnswer(PREDICTION_RESISTANCE)],
  ['CTR_DRBG: known answer, requests of keys', isKnownAnswerOfKeys],
  ['CTR_DRBG: refuses bad requests', refusesBadRequests],
  ['CTR_DRBG: refuses past the reseed interval', refusesPastTheInterval],
  ['CTR_DRBG: refuses after destruction', refusesAfterDestruction],
];

/** The names of the health tests. */
export const DRBG_SELF_TESTS: readonly string[] = CHECKS.map(([name]) => name);

function succeeds(check: () => boolean): boolean {
  try {
    return check();
  } catch {
    return false;
  }
}

function isKnownAnswer(vector: KnownAnswer): boolean {
  return answerOf(vector).equals(vector.returnedBits);
}

/**
 * NIST's vectors have requests of 64 bytes, and inputs of 32. Keys follow a reseed from longer inputs: phases, then a key of 128
 * or 256 bits or half a key of 384 bits.
 */
function isKnownAnswerOfKeys(): boolean {
  const drbg = CtrDrbg.instantiate({
    entropyInput: counting(SEED_BYTES, 0),
    nonce: counting(16, 64),
    personalization: counting(16, 80),
  });
  drbg.reseed(counting(SEED_BYTES, 96), counting(48, 160));
  return KEY_REQUESTS.every((answer) =>
    drbg.generate(answer.length / 2).equals(hexToBytes(answer)),
  );
}

/** Seed material of `os` alone: two lengths, its name and 48 bytes. */
const SEED_BYTES = 58;

/** Returns bytes that count up from `first`. */
function counting(length: number, first: number): Buffer {
  return Buffer.from(Array.from({ length }, (_, i) => first + i));
}

function refusesBadRequests(): boolean {
  const drbg = instantiateWithZeros();
  return (
    throws(() =>
      CtrDrbg.instantiate({ entropyInput: Buffer.alloc(31), nonce: Buffer.alloc(16) }),
    ) &&
    throws(() =>
      CtrDrbg.instantiate({ entropyInput: Buffer.alloc(32), nonce: Buffer.alloc(15) }),
    ) &&
    throws(() => drbg.reseed(Buffer.alloc(31))) &&
    throws(() => drbg.generate(0)) &&
    throws(() => drbg.generate(MAX_REQUEST_BITS / 8 + 1))
  );
}

function refusesPastTheInterval(): boolean {
  const drbg = instantiateWithZeros(1);
  drbg.generate(16);
  return throws(() => drbg.generate(16));
}

function refusesAfterDestruction(): boolean {
  const drbg = instantiateWithZeros();
  drbg.destroy();
  return throws(() => drbg.generate(16)) && throws(() => drbg.reseed(Buffer.alloc(32)));
}

function instantiateWithZeros(reseedInterval?: number): CtrDrbg {
  const input = { entropyInput: Buffer.alloc(32), nonce: Buffer.alloc(16) };
  return CtrDrbg.instantiate(reseedInterval === undefined ? input : { ...input, reseedInterval });
}

function throws(run: () => unknown): boolean {
  try {
    run();
  } catch {
    return true;
  }
  return false;
}

// From the literal implementation in test/drbg/reference-ctr-drbg.ts.
const KEY_REQUESTS: readonly string[] = [
  'db26aadbdcdf450895642d9d2dff567145530fca6751083cbf6044499ffbf5a6681bd4fc5f25ffc931db8e3362af9921492b901659f630cdd1bf375906129591',
  'c3b010ceed94c86f6fc92d18195d6632',
  '083a36b6ae550174860f80a543ac9e527f719dfdeb04ec9edae0d3c6ecc0e855',
  '2ea05cb3c36dfaae7e4178cff65ea9dc0fe1303c2cbedbba',
];

// NIST CAVP, CAVS 14.3, CTR_DRBG.rsp: from each of the three files, the first vector of the fourth
// `AES-256 use df` group, which has a personalization string and additional input.
const NO_RESEED: KnownAnswer = {
  entropyInput: hexToBytes('87b56e964eba227154724bb9484b812d3e2c0c43b3d17f6098d9526e16e6d0ef'),
  nonce: hexToBytes('9bea6a7ff2358df142e6c23e2157fb83'),
  personalization: hexToBytes('9860b432edd58d1ccbfeecbce99ffaee7d935a614860d4e965bd67041403096b'),
  additionalInput: [
    hexToBytes('99a5cc87924e8ea65a596f81fd17d63f5b4542fe6e8e1511b5d35c835dfadb0b'),
    hexToBytes('9a8dec54734a34582a2332f3452e82313524c3e0dfb485faeac6ca5fc0ff504d'),
  ],
  returnedBits: hexToBytes(
    'dbc6a2330b19b5cddd8cd6392ec1fb508678c805e87d1aca07ac265007632503044a00610c79d98375afa7ab4cca1a90989cbfe7c674af5d823ced11c47e9af6',
  ),
};

const RESEED: KnownAnswer = {
  entropyInput: hexToBytes('174b46250051a9e3d80c56ae7163dafe7e54481a56cafd3b8625f99bbb29c442'),
  nonce: hexToBytes('98ffd99c466e0e94a45da7e0e82dbc6b'),
  personalization: hexToBytes('7095268e99938b3e042734b9176c9aa051f00a5f8d2a89ada214b89beef18ebf'),
  reseed: {
    entropyInput: hexToBytes('e88be1967c5503f65d23867bbc891bd679db03b4878663f6c877592df25f0d9a'),
    additionalInput: hexToBytes('cdf6ad549e45b6aa5cd67d024931c33cd133d52d5ae500c3015020beb30da063'),
  },
  additionalInput: [
    hexToBytes('c7228e90c62f896a09e11684530102f926ec90a3255f6c21b857883c75800143'),
    hexToBytes('76a94f224178fe4cbf9e2b8acc53c9dc3e50bb613aac8936601453cda3293b17'),
  ],
  returnedBits: hexToBytes(
    '1a6d8dbd642076d13916e5e23038b60b26061f13dd4e006277e0268698ffb2c87e453bae1251631ac90c701a9849d933995e8b0221fe9aca1985c546c2079027',
  ),
};

const PREDICTION_RESISTANCE: KnownAnswer = {
  entropyInput: hexToBytes('534346a3e0baa65d7a51871b6d633a6f1efa9ff55dfde3212c95029adf2387d9'),
  nonce: hexToBytes('0cbe99821509975d824fd826c47d2abc'),
  personalization: hexToBytes('020d7340569e68d992e6e8ddfbead9f993c74d971e4339fe91074f87e9d7d777'),
  additionalInput: [
    hexToBytes('f41040eff2a7010287c2a76d7867a66e61299be1e1247a6b22a64b829ada8624'),
    hexToBytes('94efe68e2185646a17bb8a83268142a7b7a02786c1ee90ab8f7399ccf543de26'),
  ],
  freshEntropy: [
    hexToBytes('286091709d2e91bfef6654b8449d5e5564b6c2fe1f3e4e6e59fe776461bfb0dc'),
    hexToBytes('e68e127b2e5b9d6539c26f7e78bec13314e37febdb7105d1d65f0bde23c87d38'),
  ],
  returnedBits: hexToBytes(
    'da6389d151e3b2b332fbcc02b2cc5af4f69835e9fbbe19130f91cbf30a3c24580ebfb4311b3487e9d6a61de9dc2842c107152158b0e75a932c38e5b8ddff10e6',
  ),
};
