/**
 * The text form of the master secret, which an operator keeps in a file or an environment variable.
 *
 * Either 64 hexadecimal digits, which are version 1, or one `version:hex` per line or comma. Versions
 * ascend and secrets differ. A `#` starts a comment that ends with its line.
 */
import { randomFillSync } from 'node:crypto';
import { hexToBytes, newBytes } from '../bytes.ts';

export const MIN_SECRET_BYTES = 32;
export const MAX_VERSION = 65_535;

export interface MasterSecretVersion {
  /** 1…65,535. */
  readonly version: number;
  /** At least 32 random bytes. */
  readonly secret: Buffer;
}

/** All known versions, ascending. The current one makes commitments and proofs; the others verify. */
export interface MasterSecret {
  readonly versions: readonly MasterSecretVersion[];
  readonly currentVersion: number;
}

const BARE_SECRET = /^[0-9a-fA-F]{64}$/;
const VERSIONED_SECRET = /^([1-9][0-9]{0,4}):((?:[0-9a-fA-F]{2}){32,128})$/;

/**
 * Parses the text. Throws a `TypeError` that names the line but never quotes it, because it may hold the
 * secret.
 */
export function parseMasterSecret(text: string): MasterSecretVersion[] {
  const entries = splitEntries(text);
  if (entries.length === 0) throw new TypeError('the master secret is empty');
  const [{ line, entry }] = entries;
  if (entries.length === 1 && BARE_SECRET.test(entry)) {
    return [{ version: 1, secret: hexToBytes(entry) }];
  }
  if (entries.length === 1 && !entry.includes(':')) {
    throw new TypeError(`line ${line} of the master secret: expected 64 hexadecimal digits`);
  }
  const versions: MasterSecretVersion[] = [];
  for (const { line, entry } of entries) {
    const parsed = parseVersioned(line, entry, versions.at(-1)?.version ?? 0);
    refuseEqual(line, parsed, versions);
    versions.push(parsed);
  }
  return versions;
}

/** Returns the text form, one version per line, as `parseMasterSecret` reads it. */
export function formatMasterSecret(versions: readonly MasterSecretVersion[]): string {
  return versions.map(({ version, secret }) => `${version}:${secret.toString('hex')}\n`).join('');
}

/** Returns 256 fresh random bits. The caller owns them and MUST wipe them. */
export function newMasterSecret(): Buffer {
  return randomFillSync(newBytes(MIN_SECRET_BYTES));
}

function splitEntries(text: string): { line: number; entry: string }[] {
  return text.split('\n').flatMap((content, i) =>
    content
      .replace(/#.*/, '')
      .split(',')
      .map((entry) => ({ line: i + 1, entry: entry.trim() }))
      .filter(({ entry }) => entry !== ''),
  );
}

/** Throws if two versions share a secret: they leak together, so retiring one would change nothing. */
function refuseEqual(
  line: number,
  { version, secret }: MasterSecretVersion,
  earlier: readonly MasterSecretVersion[],
): void {
  const equal = earlier.find((one) => one.secret.equals(secret));
  if (equal === undefined) return;
  throw new TypeError(
    `line ${line} of the master secret: version ${version} has the secret of version ${equal.version}; ` +
      'each version needs its own',
  );
}

function parseVersioned(line: number, entry: string, previous: number): MasterSecretVersion {
  const match = VERSIONED_SECRET.exec(entry);
  if (match === null) {
    throw new TypeError(
      `line ${line} of the master secret: expected "version:hex" with 64 to 256 hexadecimal digits`,
    );
  }
  const version = Number(match[1]);
  if (version <= previous || version > MAX_VERSION) {
    throw new TypeError(
      `line ${line} of the master secret: expected a version from ${previous + 1} to ${MAX_VERSION}, got ${version}`,
    );
  }
  return { version, secret: hexToBytes(match[2]) };
}
