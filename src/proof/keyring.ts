/**
 * Commitments and proofs of keys, under subkeys of the versioned master secret.
 *
 *   K_use[v]   = HKDF-SHA-256(ikm: secret v, salt: empty, "phm/subkey/<use>/v1" ‖ 0 ‖ u16be(v))
 *   commitment = HMAC-SHA-256(K_commit[v], "phm/commit/v1" ‖ 0 ‖ u16be(bits) ‖ key)
 *   T          = HMAC-SHA-256(K_proof[v],  "phm/proof/v1"  ‖ 0 ‖ u16be(bits) ‖ key)
 *   proof      = "proof_" ‖ decimal(v·2^256 + T)
 *   check      = HMAC-SHA-256(K_check[v],  "phm/check/v1")
 *
 * `log-mac.ts` has the MACs of the transparency log, under K_log[v].
 *
 * HKDF: RFC 5869; the last argument is its info. HMAC: FIPS 198-1. Without the secret, none of these values
 * can be tested against a guessed key, so a stolen ledger does not confirm guesses.
 */
import { timingSafeEqual } from 'node:crypto';
import { hexToBytes, wipe } from '../bytes.ts';
import { deriveSubkey, type SubkeyUse, withUint16 } from './_subkeys.ts';
import { HmacKey } from './hmac.ts';
import { logEntryMac } from './log-mac.ts';
import { MAX_VERSION, type MasterSecretVersion, MIN_SECRET_BYTES } from './secret-text.ts';

/** What the ledger stores to recognise a key. */
export interface Commitment {
  readonly version: number;
  /** 32 bytes. */
  readonly digest: Buffer;
  /** The first 8 bytes of the digest as a signed 64-bit integer, for an indexed SQL column. */
  readonly fingerprint: bigint;
}

interface Subkeys {
  readonly version: number;
  readonly proof: HmacKey;
  readonly commit: HmacKey;
  readonly check: HmacKey;
  readonly log: HmacKey;
}

const PROOF_LABEL = 'phm/proof/v1';
const COMMIT_LABEL = 'phm/commit/v1';
const CHECK_LABEL: Buffer = Buffer.from('phm/check/v1', 'latin1');

const PROOF_PREFIX = 'proof_';
// 2^256 has 78 digits and 2^272 − 1 has 82. Leading zeros are refused, so each value has one form.
const PROOF_FORM = /^proof_[1-9][0-9]{77,81}$/;
const KEY_LENGTHS_BYTES: readonly number[] = [16, 32, 48];

/** label ‖ 0 ‖ u16be(bits), by the length of the key in bytes. */
const PROOF_PREFIXES: ReadonlyMap<number, Buffer> = prefixes(PROOF_LABEL);
const COMMIT_PREFIXES: ReadonlyMap<number, Buffer> = prefixes(COMMIT_LABEL);

/**
 * The subkeys of every retained version. The current version makes commitments and proofs; all versions
 * verify.
 */
export class Keyring {
  readonly currentVersion: number;
  /** Ascending. */
  readonly versions: readonly number[];
  readonly #current: Subkeys;
  readonly #byVersion: ReadonlyMap<number, Subkeys>;
  readonly #others: readonly Subkeys[];
  #destroyed = false;

  /**
   * Derives the subkeys. Keeps no secret: the caller wipes what it passed. `currentVersion` defaults to the
   * last version. Throws `TypeError` unless versions ascend within 1…65,535 and each secret has at least 32
   * bytes, and `RangeError` if the current version is missing.
   */
  constructor(versions: readonly MasterSecretVersion[], currentVersion?: number) {
    assertVersions(versions);
    const subkeys = versions.map(deriveSubkeys);
    this.#byVersion = new Map(subkeys.map((entry) => [entry.version, entry]));
    this.versions = subkeys.map(({ version }) => version);
    this.currentVersion = currentVersion ?? subkeys[subkeys.length - 1].version;
    this.#current = this.#subkeys(this.currentVersion);
    this.#others = subkeys.filter((one) => one !== this.#current);
  }

  /**
   * Returns the commitment under `version`, by default the current one. Here and below, `key` has 16, 32 or
   * 48 bytes. Throws `RangeError` if the keyring does not hold the version.
   */
  commit(key: Uint8Array, version: number = this.currentVersion): Commitment {
    this.#assertUsable();
    return commitment(this.#subkeys(version), key);
  }

  /** Returns the commitments under every retained version, newest first. */
  commitAll(key: Uint8Array): Commitment[] {
    this.#assertUsable();
    return [...this.#byVersion.values()].reverse().map((subkeys) => commitment(subkeys, key));
  }

  /** Returns the commitments under the retained versions other than the current one. */
  commitOthers(key: Uint8Array): Commitment[] {
    this.#assertUsable();
    return this.#others.map((subkeys) => commitment(subkeys, key));
  }

  /** Returns the proof of `key` under the current version: `proof_` and a decimal number. */
  makeProof(key: Uint8Array): string {
    this.#assertUsable();
    const tag = this.#current.proof.macHex(prefixOf(PROOF_PREFIXES, key), key);
    return `${PROOF_PREFIX}${BigInt(`0x${this.currentVersion.toString(16)}${tag}`)}`;
  }

  /**
   * Returns the retained version under which `proof` belongs to `key`; null if it is malformed or belongs
   * to another key. Throws only if `key` is not 16, 32 or 48 bytes.
   */
  verifyProof(key: Uint8Array, proof: string): number | null {
    this.#assertUsable();
    const prefix = prefixOf(PROOF_PREFIXES, key);
    if (!PROOF_FORM.test(proof)) return null;
    const value = BigInt(proof.slice(PROOF_PREFIX.length));
    const subkeys = this.#byVersion.get(Number(value >> 256n));
    if (subkeys === undefined) return null;
    const claimed = hexToBytes(BigInt.asUintN(256, value).toString(16).padStart(64, '0'));
    const verifies = timingSafeEqual(subkeys.proof.mac(prefix, key), claimed);
    return verifies ? subkeys.version : null;
  }

  /**
   * Returns 32 bytes that show whether a database belongs to this secret. They reveal nothing about the
   * other subkeys. Throws `RangeError` if the keyring does not hold the version.
   */
  checkValue(version: number): Buffer {
    this.#assertUsable();
    return this.#subkeys(version).check.mac(CHECK_LABEL);
  }

  /**
   * Returns the MAC of an entry that waits for the log, as `LogMacKeys.mac`. Throws `RangeError` if the
   * keyring does not hold the version.
   */
  logMac(version: number, entryId: Uint8Array, entry: Uint8Array): Buffer {
    this.#assertUsable();
    return logEntryMac(this.#subkeys(version).log, entryId, entry);
  }

  /** Overwrites all subkeys. Every later call throws. */
  destroy(): void {
    for (const { proof, commit, check, log } of this.#byVersion.values()) {
      for (const subkey of [proof, commit, check, log]) subkey.wipe();
    }
    this.#destroyed = true;
  }

  #subkeys(version: number): Subkeys {
    const subkeys = this.#byVersion.get(version);
    if (subkeys === undefined) {
      throw new RangeError(`"version" expected one of ${this.versions.join(', ')}, got ${version}`);
    }
    return subkeys;
  }

  #assertUsable(): void {
    if (this.#destroyed) throw new Error('the keyring was destroyed');
  }
}

function commitment({ version, commit }: Subkeys, key: Uint8Array): Commitment {
  const digest = commit.mac(prefixOf(COMMIT_PREFIXES, key), key);
  return { version, digest, fingerprint: digest.readBigInt64BE(0) };
}

function deriveSubkeys(one: MasterSecretVersion): Subkeys {
  const subkeyFor = (use: SubkeyUse): HmacKey => {
    const subkey = deriveSubkey(one, use);
    try {
      return new HmacKey(subkey);
    } finally {
      wipe(subkey);
    }
  };
  return {
    version: one.version,
    proof: subkeyFor('proof'),
    commit: subkeyFor('commit'),
    check: subkeyFor('check'),
    log: subkeyFor('log'),
  };
}

function prefixes(label: string): ReadonlyMap<number, Buffer> {
  return new Map(KEY_LENGTHS_BYTES.map((length) => [length, withUint16(label, 8 * length)]));
}

/** Throws `TypeError` unless `key` is 16, 32 or 48 bytes. */
function prefixOf(byLength: ReadonlyMap<number, Buffer>, key: Uint8Array): Buffer {
  const prefix = key instanceof Uint8Array ? byLength.get(key.length) : undefined;
  if (prefix) return prefix;
  const got = key instanceof Uint8Array ? `length=${key.length}` : typeof key;
  throw new TypeError(`"key" expected Uint8Array of length 16, 32 or 48, got ${got}`);
}

function assertVersions(versions: readonly MasterSecretVersion[]): void {
  if (versions.length === 0) throw new TypeError('"versions" expected at least one, got none');
  let previous = 0;
  for (const { version, secret } of versions) {
    if (!Number.isInteger(version) || version <= previous || version > MAX_VERSION) {
      throw new TypeError(
        `"version" expected an integer from ${previous + 1} to ${MAX_VERSION}, got ${version}`,
      );
    }
    if (!(secret instanceof Uint8Array) || secret.length < MIN_SECRET_BYTES) {
      throw new TypeError(`"secret" expected Uint8Array of at least ${MIN_SECRET_BYTES} bytes`);
    }
    previous = version;
  }
}
