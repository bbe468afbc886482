/**
 * What the listener accepts under each value of `PHM_TLS_PROFILE`: cipher suites, key exchange and signatures of TLS 1.3
 * (RFC 8446), by OpenSSL's names. `npm run docs` writes the table into the pages; to add a profile, add a row.
 */

interface TlsProfile {
  /** Cipher suites in the server's order. None has AES-128: a 256-bit key must not be sent under a 128-bit one. */
  readonly suites: readonly string[];
  /** Key exchange in tuples: a client that supports a group of one gets none of the next. */
  readonly groups: readonly (readonly string[])[];
  /** Signature algorithms. The key of the certificate must make one of them. */
  readonly signatures: readonly string[];
  /** Least length of an RSA key, if it is above OpenSSL's own of 2048. */
  readonly leastRsaBits?: number;
  /** Which certificate to get, for people. */
  readonly certificate: string;
}

/** Elliptic curves combined with ML-KEM (RFC 10024). The last one is for clients restricted to NIST's curves. */
const HYBRID_GROUPS = ['X25519MLKEM768', 'SecP384r1MLKEM1024', 'SecP256r1MLKEM768'] as const;

const SUITE = 'TLS_AES_256_GCM_SHA384';

const ECDSA = [
  'ecdsa_secp256r1_sha256',
  'ecdsa_secp384r1_sha384',
  'ecdsa_secp521r1_sha512',
] as const;

const RSA = [
  'rsa_pss_rsae_sha256',
  'rsa_pss_rsae_sha384',
  'rsa_pss_rsae_sha512',
  'rsa_pss_pss_sha256',
  'rsa_pss_pss_sha384',
  'rsa_pss_pss_sha512',
] as const;

/**
 * All that OpenSSL 3.5 has for TLS 1.3, but for Brainpool: a client on Node that trusts such a certificate dies of a segmentation
 * fault (Node 26.10, `getPeerCertificate` of a curve without a name of NIST), and so would every command of this project.
 */
const EVERY_SIGNATURE = [...ECDSA, 'ed25519', 'ed448', ...RSA, 'mldsa44', 'mldsa65', 'mldsa87'];

const COMMON = {
  suites: [SUITE, 'TLS_CHACHA20_POLY1305_SHA256'],
  signatures: EVERY_SIGNATURE,
  certificate: 'ECDSA on a curve of NIST, RSA of 2048 bits or more, EdDSA or ML-DSA',
} as const;

const TLS_PROFILES = {
  /** The classical groups are for clients without ML-KEM: RFC 8446 §9.1 requires P-256, and some policies allow P-384 alone. */
  default: { ...COMMON, groups: [HYBRID_GROUPS, ['X25519', 'P-256', 'P-384']] },
  'post-quantum': { ...COMMON, groups: [HYBRID_GROUPS] },
  /**
   * BSI TR-02102-2, edition 2026-01, Tables 10, 11 and 13. It announces the two hybrid groups for when their RFC is out, which
   * it has been since August 2026. Finite fields are left out: no tested client needs them.
   */
  bsi: {
    suites: [SUITE],
    groups: [
      ['SecP384r1MLKEM1024', 'SecP256r1MLKEM768'],
      ['P-384', 'P-256', 'P-521'],
      ['brainpoolP384r1tls13', 'brainpoolP256r1tls13', 'brainpoolP512r1tls13'],
    ],
    signatures: [...ECDSA, ...RSA],
    leastRsaBits: 3000,
    certificate: 'ECDSA on a curve of NIST, or RSA of 3000 bits or more',
  },
  /** CNSA 2.0 for clients that have it, else CNSA 1.0 (RFC 9151), with both combined in between. */
  cnsa: {
    suites: [SUITE],
    groups: [['MLKEM1024'], ['SecP384r1MLKEM1024'], ['P-384']],
    signatures: ['mldsa87', 'ecdsa_secp384r1_sha384', 'rsa_pss_rsae_sha384', 'rsa_pss_pss_sha384'],
    leastRsaBits: 3072,
    certificate: 'ML-DSA-87, ECDSA P-384, or RSA of 3072 bits or more',
  },
  /** CNSA 2.0 alone (draft-becker-cnsa2-tls-profile-05). */
  'cnsa-2': {
    suites: [SUITE],
    groups: [['MLKEM1024']],
    signatures: ['mldsa87'],
    certificate: 'ML-DSA-87',
  },
} as const satisfies Record<string, TlsProfile>;

export type TlsProfileName = keyof typeof TLS_PROFILES;

export const TLS_PROFILE_NAMES = Object.keys(TLS_PROFILES) as readonly TlsProfileName[];

/** Returns what a profile accepts. */
export function profileOf(name: TlsProfileName): TlsProfile {
  return TLS_PROFILES[name];
}

/** Returns the groups of a profile without their order. */
export function groupsOf(name: TlsProfileName): string[] {
  return profileOf(name).groups.flat();
}

/** True if every client needs a group with ML-KEM. */
export function isPostQuantum(name: TlsProfileName): boolean {
  return groupsOf(name).every((group) => group.includes('MLKEM'));
}

/** Groups for which a client sends a share at once, as OpenSSL 3.5 does by default. */
const SHARED: readonly string[] = ['X25519MLKEM768', 'X25519'];

/**
 * Returns OpenSSL's list of the groups of all profiles, for clients of this service. "*" asks for a share, and "?" leaves out
 * what OpenSSL lacks.
 */
export function everyGroup(): string {
  const groups = new Set(TLS_PROFILE_NAMES.flatMap(groupsOf));
  return [...groups].map((group) => `?${SHARED.includes(group) ? '*' : ''}${group}`).join(':');
}
