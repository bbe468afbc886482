/** Finds other users who can read or replace files with secrets. */

import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import { quote } from '#platform/terminal';
import type { LogKeyOrigin, MasterSecretOrigin } from '../config/index.ts';

const GROUP_READS = 0o040;
const GROUP_WRITES = 0o020;
const OTHERS_READ = 0o004;
const OTHERS_WRITE = 0o002;
const STICKY = 0o1000;

/** A file of secrets, in the words of a warning. */
interface SecretFile {
  readonly name: string;
  readonly canRead: string;
  readonly danger: string;
  readonly remedy: string;
}

const MASTER_SECRET: SecretFile = {
  name: 'the master secret',
  canRead: 'can read the master secret',
  danger: 'forge proofs for keys that this service never generated',
  remedy: 'rotate the secret if anyone may have read it',
};

const LOG_KEYS: SecretFile = {
  name: 'the keys of the log',
  canRead: 'can read the keys of the log',
  danger: 'sign receipts for keys that this service never recorded',
  remedy: 'start a new log with phm log init --rotate if anyone may have read it',
};

/** Other files with secrets, by the variable that names them. */
const CREDENTIALS: Readonly<Record<string, SecretFile>> = {
  PHM_TLS_KEY_FILE: {
    name: "the certificate's key",
    canRead: "can read the certificate's key",
    danger: 'take the place of this server',
    remedy: 'get a certificate with a new key if anyone may have read it',
  },
  PHM_DATABASE_URL_FILE: {
    name: "the database's address",
    canRead: "can read the database's address",
    danger: 'use the password in it',
    remedy: 'change the password if anyone may have read it',
  },
  PHM_IBM_API_KEY_FILE: providerKey('the API key of IBM Quantum'),
  PHM_QRNG_API_KEY_FILE: providerKey('the API key of the QRNG service'),
};

function providerKey(name: string): SecretFile {
  return {
    name,
    canRead: `can read ${name}`,
    danger: 'use it',
    remedy: 'replace it if anyone may have read it',
  };
}

/**
 * Returns warnings for the log; none if only the owner can read and replace the file. If the operator named the file,
 * its group may read it, because Kubernetes mounts secrets this way. Windows has other permissions, which it ignores.
 */
export function secretExposures(origin: MasterSecretOrigin): string[] {
  return exposuresOf(origin, MASTER_SECRET);
}

/** Returns the same warnings for the file with the log's keys. */
export function logKeyExposures(origin: LogKeyOrigin): string[] {
  return exposuresOf(origin, LOG_KEYS);
}

/** Returns the same warnings for the other files that variables name. */
export function credentialExposures(pathIn: (variable: string) => string | undefined): string[] {
  return Object.entries(CREDENTIALS).flatMap(([variable, file]) => {
    const path = pathIn(variable);
    return path ? exposuresOf({ kind: 'file', path }, file) : [];
  });
}

function exposuresOf(
  origin: MasterSecretOrigin | LogKeyOrigin,
  { name, canRead, danger, remedy }: SecretFile,
): string[] {
  if (!('path' in origin) || process.platform === 'win32') return [];
  const { path } = origin;
  const mode = modeOf(path);
  const directory = modeOf(dirname(path));
  if (mode === undefined || directory === undefined) return [];
  const readers = whoOf(mode, origin.kind === 'managed' ? GROUP_READS : 0, OTHERS_READ);
  const writers = whoOf(mode, GROUP_WRITES, OTHERS_WRITE);
  // In a directory with this bit, only the owner of a file can replace it.
  const movers = directory & STICKY ? null : whoOf(directory, 0, OTHERS_WRITE);
  return [
    ...(readers
      ? [
          `${readers} ${canRead} ${path} (mode ${octal(mode)}) and ${danger}. Run chmod 600 ${quote(path)}, and ` +
            remedy,
        ]
      : []),
    ...(writers
      ? [
          `${writers} can change ${name} ${path} (mode ${octal(mode)}): run chmod 600 ${quote(path)}`,
        ]
      : []),
    ...(movers
      ? [
          `${movers} can replace files in ${dirname(path)} (mode ${octal(directory)}), including ${name}: run chmod 700 ` +
            quote(dirname(path)),
        ]
      : []),
  ];
}

function whoOf(mode: number, group: number, others: number): string | null {
  if (mode & others) return 'every user of this machine';
  return mode & group ? 'the group of its file' : null;
}

function octal(mode: number): string {
  return (mode & 0o7777).toString(8).padStart(4, '0');
}

function modeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.mode;
}
