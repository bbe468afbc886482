/** Compares the keys of a server with those of the open log. */
import { FormatError, type VerifierKey } from '#tlog';
import type { LogConfig } from '../../config/index.ts';
import type { LogRecord } from '../../ledger/index.ts';
import { type LogKeys, openVerifierKey } from '../../log/index.ts';

/** Returns the verifier keys as the database stores them: two lines, Ed25519 first. */
export function verifierKeysText({ verifierKeys }: LogKeys): string {
  return `${verifierKeys.ed25519}\n${verifierKeys.mlDsa44}\n`;
}

/** Opens verifier keys as the database stores them. Throws `FormatError`: a row that no server wrote can hold any text. */
export function openVerifierKeys(text: string): VerifierKey[] {
  return text.trim().split('\n').map(openVerifierKey);
}

/** Returns true if these are the keys of the log. Logs of other databases can have the same origin. */
export function areKeysOf(keys: LogKeys | null, { verifierKeys }: LogRecord): keys is LogKeys {
  return keys !== null && verifierKeysText(keys).trim() === verifierKeys.trim();
}

/** Says what tells these keys from those of the log, to follow their subject. Origins alone may be equal. */
export function describeOtherKeys(keys: LogKeys, { origin, verifierKeys }: LogRecord): string {
  return keys.origin === origin
    ? `have the key IDs ${keyIds(verifierKeysText(keys))}, but those of the open log ${origin} are ${keyIds(verifierKeys)}`
    : `belong to the log ${keys.origin}, but the open log of this database is ${origin}`;
}

function keyIds(verifierKeys: string): string {
  try {
    const keys = openVerifierKeys(verifierKeys);
    return keys.map(({ keyId }) => keyId.toString(16).padStart(8, '0')).join(' and ');
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    return 'unreadable';
  }
}

/** Returns why the log cannot run with these keys, with what to do; null if it can. */
export function whyStopped(
  { keys: place }: LogConfig,
  log: LogRecord,
  keys: LogKeys | null,
): string | null {
  const name = place.kind === 'environment' ? 'PHM_LOG_KEY' : place.path;
  if (keys === null) {
    return (
      `the keys of the log ${log.origin} are missing: restore ${name}, or set PHM_LOG_KEY_FILE. If they are lost, start a ` +
      'new log: phm log init --rotate'
    );
  }
  if (areKeysOf(keys, log)) return null;
  return (
    `the keys in ${name} ${describeOtherKeys(keys, log)}: install its ` +
    'keys and restart this server, or start a new log: phm log init --rotate'
  );
}
