/** The suites: a KEM of draft-ietf-hpke-pq with a KDF and an AEAD of RFC 9180 §7. */
import { type Check, FormatError, mismatch } from '../../tlog/src/index.ts';

export type SealSuiteName = 'MLKEM768-X25519' | 'ML-KEM-1024';

/** A suite by its registered numbers (IANA, "Hybrid Public Key Encryption"). */
export interface SealSuite {
  readonly name: SealSuiteName;
  readonly kemId: 0x647a | 0x0042;
  readonly kdfId: 1 | 3;
  readonly aeadId: 2;
  readonly publicKeyBytes: 1216 | 1568;
  readonly encBytes: 1120 | 1568;
  /** Length of the KEM's seed. */
  readonly privateKeyBytes: 32 | 64;
}

export const SEAL_SUITES: readonly SealSuite[] = [
  // Also called X-Wing. HKDF-SHA256, AES-256-GCM.
  {
    name: 'MLKEM768-X25519',
    kemId: 0x647a,
    kdfId: 1,
    aeadId: 2,
    publicKeyBytes: 1216,
    encBytes: 1120,
    privateKeyBytes: 32,
  },
  // Category 5 of NIST. HKDF-SHA512, AES-256-GCM.
  {
    name: 'ML-KEM-1024',
    kemId: 0x0042,
    kdfId: 3,
    aeadId: 2,
    publicKeyBytes: 1568,
    encBytes: 1568,
    privateKeyBytes: 64,
  },
];

export const DEFAULT_SUITE: SealSuiteName = 'MLKEM768-X25519';

export function findSuite(name: string): SealSuite | undefined {
  return SEAL_SUITES.find((suite) => suite.name === name);
}

/** Returns the suite of this name. Throws `TypeError` for another name. */
export function suiteOf(name: SealSuiteName): SealSuite {
  const suite = findSuite(name);
  if (suite) return suite;
  throw new TypeError(`"suite" expected ${NAMES}, got ${JSON.stringify(name)}`);
}

const NAMES = SEAL_SUITES.map(({ name }) => `"${name}"`).join(' or ');

export const suiteName: Check<SealSuiteName> = (name, value) => {
  const suite = typeof value === 'string' ? findSuite(value) : undefined;
  if (suite) return suite.name;
  throw mismatch(name, NAMES, value);
};

/** The numbers of a suite, as they travel. */
interface SuiteIds {
  readonly kem_id: number;
  readonly kdf_id: number;
  readonly aead_id: number;
}

export function idsOf({ kemId, kdfId, aeadId }: SealSuite): SuiteIds {
  return { kem_id: kemId, kdf_id: kdfId, aead_id: aeadId };
}

/** Returns the suite with these numbers. Throws `FormatError` if no suite has them. `name` begins its message. */
export function suiteOfIds(name: string, ids: SuiteIds): SealSuite {
  const { kem_id: kem, kdf_id: kdf, aead_id: aead } = ids;
  const found = SEAL_SUITES.find(
    ({ kemId, kdfId, aeadId }) => kemId === kem && kdfId === kdf && aeadId === aead,
  );
  if (found) return found;
  throw new FormatError(
    `${name}: expected the numbers of ${NAMES}, got kem_id ${kem}, kdf_id ${kdf} and aead_id ${aead}`,
  );
}
