/**
 * MACs of the transparency log, under a subkey of the versioned master secret.
 *
 *   of an entry = HMAC-SHA-256(K_log[v], "phm/log-entry/v1" ‖ 0 ‖ entry ID (16 bytes) ‖ entry (32 bytes))
 *   of a head   = HMAC-SHA-256(K_log[v], "phm/log-head/v1" ‖ 0 ‖ u64be(size) ‖ root (32 bytes) ‖ origin as UTF-8)
 *
 * Pending entries and the head are in the database. Without the subkey, a writer of the database can neither
 * queue an entry nor append one to the tree. The log worker holds these subkeys and no other part of the
 * master secret.
 */
import { timingSafeEqual } from 'node:crypto';
import { assertLength } from '../bytes.ts';
import { deriveSubkey } from './_subkeys.ts';
import { HmacKey } from './hmac.ts';
import type { MasterSecretVersion } from './secret-text.ts';

const ENTRY_LABEL = Buffer.from('phm/log-entry/v1\0', 'latin1');
const HEAD_LABEL = Buffer.from('phm/log-head/v1\0', 'latin1');
const ENTRY_ID_BYTES = 16;
const ENTRY_BYTES = 32;
const ROOT_BYTES = 32;

/** The log's subkey of one version of the master secret, 32 bytes. It may be posted to a worker. */
export interface LogMacKey {
  readonly version: number;
  readonly subkey: Uint8Array;
}

/** The head of one log. */
interface LogHead {
  readonly origin: string;
  readonly size: number;
  /** 32 bytes. */
  readonly root: Uint8Array;
}

/** Derives the log's subkeys. The caller MUST wipe them, after it has passed them on. */
export function deriveLogMacKeys(versions: readonly MasterSecretVersion[]): LogMacKey[] {
  return versions.map((one) => ({ version: one.version, subkey: deriveSubkey(one, 'log') }));
}

/** The log's subkeys of every retained version. */
export class LogMacKeys {
  readonly #subkeys: ReadonlyMap<number, HmacKey>;
  #destroyed = false;

  /** Copies the subkeys: the caller wipes what it passed. Throws `TypeError` on a length other than 32. */
  constructor(keys: readonly LogMacKey[]) {
    for (const { subkey } of keys) assertLength('subkey', subkey, 32);
    this.#subkeys = new Map(keys.map(({ version, subkey }) => [version, new HmacKey(subkey)]));
  }

  /** The retained versions, in the given order. */
  get versions(): readonly number[] {
    return [...this.#subkeys.keys()];
  }

  /** Returns the MAC of an entry, 32 bytes. Throws `RangeError` if the version is not retained. */
  mac(version: number, entryId: Uint8Array, entry: Uint8Array): Buffer {
    return logEntryMac(this.#retained(version), entryId, entry);
  }

  /** Returns the MAC of a head, 32 bytes. Throws `RangeError` if the version is not retained. */
  headMac(version: number, head: LogHead): Buffer {
    return logHeadMac(this.#retained(version), head);
  }

  /**
   * Reports whether `mac` belongs to this entry, in constant time. False if the version is not retained.
   */
  verifies(version: number, entryId: Uint8Array, entry: Uint8Array, mac: Uint8Array): boolean {
    const subkey = this.#subkey(version);
    if (!subkey || mac.length !== 32) return false;
    if (entryId.length !== ENTRY_ID_BYTES || entry.length !== ENTRY_BYTES) return false;
    return timingSafeEqual(logEntryMac(subkey, entryId, entry), mac);
  }

  /** Reports whether `mac` belongs to this head, in constant time. False if the version is not retained. */
  verifiesHead(version: number, head: LogHead, mac: Uint8Array): boolean {
    const subkey = this.#subkey(version);
    if (!subkey || mac.length !== 32 || head.root.length !== ROOT_BYTES) return false;
    return timingSafeEqual(logHeadMac(subkey, head), mac);
  }

  /** Overwrites all subkeys. Every later call throws. */
  destroy(): void {
    for (const subkey of this.#subkeys.values()) subkey.wipe();
    this.#destroyed = true;
  }

  #retained(version: number): HmacKey {
    const subkey = this.#subkey(version);
    if (subkey) return subkey;
    throw new RangeError(`"version" expected one of ${this.versions.join(', ')}, got ${version}`);
  }

  #subkey(version: number): HmacKey | undefined {
    if (this.#destroyed) throw new Error('the subkeys of the log were destroyed');
    return this.#subkeys.get(version);
  }
}

/** Returns the MAC of one entry. Throws `TypeError` unless the ID has 16 bytes and the entry 32. */
export function logEntryMac(subkey: HmacKey, entryId: Uint8Array, entry: Uint8Array): Buffer {
  assertLength('entryId', entryId, ENTRY_ID_BYTES);
  assertLength('entry', entry, ENTRY_BYTES);
  return subkey.mac(ENTRY_LABEL, entryId, entry);
}

function logHeadMac(subkey: HmacKey, { origin, size, root }: LogHead): Buffer {
  assertLength('root', root, ROOT_BYTES);
  const length = Buffer.alloc(8);
  length.writeBigUInt64BE(BigInt(size));
  // The origin is last and everything before it has a fixed length, so no two heads give the same bytes.
  return subkey.mac(HEAD_LABEL, length, root, Buffer.from(origin, 'utf8'));
}
