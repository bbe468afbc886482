/** Subkeys of the master secret: HKDF-SHA-256 (RFC 5869) with an info text per use. */
import { hkdfSync } from 'node:crypto';
import { newBytes, wipe } from '../bytes.ts';
import type { MasterSecretVersion } from './secret-text.ts';

/** The uses of subkeys. A subkey never serves two uses. */
export type SubkeyUse = 'proof' | 'commit' | 'check' | 'log';

const SUBKEY_BYTES = 32;

/** Derives the subkey of one version for one use: 32 bytes in separate memory. The caller MUST wipe it. */
export function deriveSubkey({ version, secret }: MasterSecretVersion, use: SubkeyUse): Buffer {
  const info = withUint16(`phm/subkey/${use}/v1`, version);
  const derived = new Uint8Array(hkdfSync('sha256', secret, '', info, SUBKEY_BYTES));
  const subkey = newBytes(SUBKEY_BYTES);
  subkey.set(derived);
  wipe(derived);
  return subkey;
}

/** Returns label ‖ 0 ‖ u16be(value). The zero ends the label, so no label is a prefix of another. */
export function withUint16(label: string, value: number): Buffer {
  const bytes = Buffer.alloc(label.length + 3);
  bytes.write(label, 'latin1');
  bytes.writeUInt16BE(value, label.length + 1);
  return bytes;
}
