/**
 * Reads, creates and rotates the master secret, and compares it with the database.
 *
 * The database keeps a check value for each version, and whether the version was ever current on any server. Startup
 * fails if the secret has a different value under a registered number, or if it lacks a version under which keys may
 * have been generated: the server would take such keys for foreign ones. Startup also fails if the current version is
 * retired.
 */

import { timingSafeEqual } from 'node:crypto';
import { existsSync, realpathSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import {
  decodeText,
  plainText,
  readFailure,
  readTextFile,
  writeDurably,
  writeFailure,
} from '#platform/files';
import { quote } from '#platform/terminal';
import { wipe } from '../bytes.ts';
import type { MasterSecretOrigin } from '../config/index.ts';
import { SetupError } from '../errors.ts';
import { makeDirectory } from '../files/make-directory.ts';
import { dataDirectoryProblem, requireOwnFile } from '../files/own-file.ts';
import type { AccountStore, AuditRecord, SecretCheck } from '../ledger/index.ts';
import {
  formatMasterSecret,
  Keyring,
  type MasterSecret,
  type MasterSecretVersion,
  newMasterSecret,
  parseMasterSecret,
} from '../proof/index.ts';
import { lackedVersions } from '../service/offline.ts';
import { runSecretCommand, type SecretCommand } from './secret-command.ts';

/** Reads the master secret, and creates a managed one that does not exist yet. Throws `SetupError`. */
export async function loadMasterSecret(origin: MasterSecretOrigin): Promise<MasterSecret> {
  if (origin.kind === 'managed' && !existsSync(origin.path)) {
    try {
      createMasterSecret(origin.path);
    } catch (error) {
      // Another process may have just created it.
      if (!existsSync(origin.path)) throw error;
    }
  }
  if (origin.kind === 'managed') requireUnknown(origin.path);
  return readMasterSecret(origin, { isNew: true });
}

const OTHERS_READ = 0o004;

/**
 * Throws `SetupError` if every user could read a secret that no ledger uses yet: a new ledger would begin with a secret that
 * others may know. A ledger in use gets a warning instead, because its secret cannot be replaced at once.
 */
function requireUnknown(path: string): void {
  requireOwnFile(path);
  const mode = statSync(path, { throwIfNoEntry: false })?.mode ?? 0;
  if (process.platform === 'win32' || !(mode & OTHERS_READ)) return;
  throw new SetupError(
    `every user of this machine can read the master secret ${path}, which is for a new ledger: if you made it and nobody ` +
      `has read it, run chmod 600 ${quote(path)}; otherwise move it away`,
  );
}

/**
 * Reads the master secret and creates nothing. Throws `SetupError`. Its message suggests a new secret only if `isNew`
 * says that no key can exist yet.
 */
export async function readMasterSecret(
  origin: MasterSecretOrigin,
  { isNew } = { isNew: false },
): Promise<MasterSecret> {
  const versions = await readVersions(origin, isNew);
  const currentVersion = origin.currentVersion ?? versions[versions.length - 1].version;
  if (versions.some(({ version }) => version === currentVersion))
    return { versions, currentVersion };
  throw new SetupError(
    `PHM_MASTER_KEY_VERSION is ${currentVersion}, but the master secret has only version ` +
      `${versions.map(({ version }) => version).join(', ')}: name one of these, or unset the variable`,
  );
}

async function readVersions(
  origin: MasterSecretOrigin,
  isNew: boolean,
): Promise<MasterSecretVersion[]> {
  if (origin.kind === 'command') return readFromCommand(origin);
  if ('path' in origin) requireOwnFile(origin.path);
  try {
    return parseMasterSecret(
      origin.kind === 'environment' ? plainText(origin.text) : readTextFile(origin.path),
    );
  } catch (cause) {
    const { code, syscall, message } = cause as NodeJS.ErrnoException;
    const reason = syscall === undefined ? message : readFailure(cause);
    if (code === 'EACCES' && origin.kind === 'file') {
      throw new SetupError(
        `cannot read the master secret in ${origin.path}: ${reason}; run this as the user of the server`,
      );
    }
    throw new SetupError(
      origin.kind === 'environment'
        ? `PHM_MASTER_KEY is not a master secret: ${reason}. To create one: phm secret new --print`
        : `cannot use the master secret in ${origin.path}: ${reason}; restore the file from its backup${
            isNew && code === 'ENOENT'
              ? '. If this is a new installation, create one: phm secret new'
              : ''
          }`,
    );
  }
}

/** What the command of an origin has written, or its failure: it runs once, because it may ask for a touch. */
const outputs = new WeakMap<SecretCommand, Promise<Buffer>>();

async function readFromCommand(origin: SecretCommand): Promise<MasterSecretVersion[]> {
  const output = outputs.get(origin) ?? runSecretCommand(origin);
  outputs.set(origin, output);
  try {
    return parseMasterSecret(decodeText(await output));
  } catch (error) {
    if (error instanceof SetupError) throw error;
    throw new SetupError(
      `PHM_MASTER_KEY_COMMAND did not write a master secret: ${(error as Error).message}; ` +
        'it must write the text that PHM_MASTER_KEY_FILE would hold',
    );
  }
}

/** Wipes what the command of this origin has written. The next reader runs it again. */
export async function forgetMasterSecret(origin: MasterSecretOrigin): Promise<void> {
  if (origin.kind !== 'command') return;
  const output = outputs.get(origin);
  outputs.delete(origin);
  const bytes = await output?.catch(() => undefined);
  if (bytes) wipe(bytes);
}

/** Creates a secret file with version 1, mode 0600. Throws `SetupError` if the file exists. */
export function createMasterSecret(path: string): void {
  makeSecretDirectory(dirname(path));
  const secret = newMasterSecret();
  try {
    writeDurably(path, formatMasterSecret([{ version: 1, secret }]), { replace: false });
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'EEXIST') {
      throw new SetupError(
        `${path} exists: a new secret would invalidate every proof and commitment made under it. ` +
          'To add a version: phm secret rotate',
      );
    }
    throw new SetupError(`cannot write ${path}: ${writeFailure(cause)}`, { cause });
  } finally {
    wipe(secret);
  }
}

function makeSecretDirectory(path: string): void {
  const problem = dataDirectoryProblem(path);
  if (problem !== null) throw new SetupError(problem);
  try {
    makeDirectory(path);
  } catch (cause) {
    throw new SetupError(
      `cannot create the directory ${path}: ${(cause as Error).message}; check PHM_DATA_DIR`,
      { cause },
    );
  }
}

const ROTATE_BEHIND_COMMAND =
  'the master secret comes from PHM_MASTER_KEY_COMMAND, which this command cannot change: add a line "2:<new>" (with ' +
  'the next version) to the text that the command writes, and keep the lines that are there; a text without versions is ' +
  '"1:<text>". To create the new one: phm secret new --print';

/** Adds a version to a secret file and returns its number. Old versions stay for verification. */
export async function rotateMasterSecret(origin: MasterSecretOrigin): Promise<number> {
  if (origin.kind === 'command') throw new SetupError(ROTATE_BEHIND_COMMAND);
  if (origin.kind === 'environment') {
    throw new SetupError(
      'the master secret comes from PHM_MASTER_KEY, which this command cannot change: set ' +
        'PHM_MASTER_KEY="1:<old>,2:<new>". If several servers share a database, also set ' +
        'PHM_MASTER_KEY_VERSION=1 until all of them have both. To create the new one: phm secret new --print',
    );
  }
  const { versions } = await readMasterSecret(origin);
  const secret = newMasterSecret();
  const version = (versions.at(-1)?.version ?? 0) + 1;
  try {
    const text = formatMasterSecret([...versions, { version, secret }]);
    // Keeps a symbolic link and replaces the file that it names.
    writeDurably(realpathSync(origin.path), text, { replace: true });
    return version;
  } catch (cause) {
    throw new SetupError(`cannot write ${origin.path}: ${writeFailure(cause)}`, { cause });
  } finally {
    wipe(secret, ...versions.map((one) => one.secret));
  }
}

/**
 * Compares the secret with the database, registers new versions and marks the current one as activated, before any key
 * is generated under it. `auditActivation` returns the record of that action, once the versions are registered. Throws
 * `SetupError`.
 */
export async function checkMasterSecret(
  store: AccountStore,
  { versions, currentVersion }: MasterSecret,
  nowMs: number,
  auditActivation: () => Promise<AuditRecord | null> = async () => null,
): Promise<void> {
  const keyring = new Keyring(versions, currentVersion);
  try {
    refuseUnfit(keyring, await store.secretChecks());
    for (const version of keyring.versions) {
      await store.registerSecret(version, keyring.checkValue(version), nowMs);
    }
    // Another server may have registered its own secret in between. The database decides.
    refuseUnfit(keyring, await store.secretChecks());
    await store.activateSecret(currentVersion, nowMs, await auditActivation());
  } finally {
    keyring.destroy();
  }
}

function refuseUnfit(keyring: Keyring, registered: ReadonlyMap<number, SecretCheck>): void {
  const problem = unfitProblem(keyring, registered);
  if (problem !== null) throw new SetupError(problem);
}

/** Returns why no server starts with this secret on the database, with what to do; null if one does. */
export function unfitSecretProblem(
  { versions, currentVersion }: MasterSecret,
  registered: ReadonlyMap<number, SecretCheck>,
): string | null {
  const keyring = new Keyring(versions, currentVersion);
  try {
    return unfitProblem(keyring, registered);
  } finally {
    keyring.destroy();
  }
}

function unfitProblem(
  keyring: Keyring,
  registered: ReadonlyMap<number, SecretCheck>,
): string | null {
  const foreign = foreignSecretProblem(keyring, registered);
  const { currentVersion } = keyring;
  if (foreign !== null || !registered.get(currentVersion)?.retirement) return foreign;
  const others = keyring.versions.filter((version) => !registered.get(version)?.retirement);
  return `version ${currentVersion} of the master secret is retired, and this server would generate keys under it: ${
    others.length === 0
      ? 'unset PHM_MASTER_KEY_VERSION and add a version: phm secret rotate'
      : `set PHM_MASTER_KEY_VERSION=${others.at(-1)}`
  }`;
}

/** Returns why the keyring does not fit this database, with what to do; null if it fits. */
export function foreignSecretProblem(
  keyring: Keyring,
  registered: ReadonlyMap<number, SecretCheck>,
): string | null {
  const fix =
    'restore the secret file, PHM_MASTER_KEY_COMMAND or PHM_MASTER_KEY that belongs to this database';
  const [lacked] = lackedVersions(keyring, registered);
  if (lacked !== undefined) {
    return `keys were generated under version ${lacked} of the master secret, which the given secret lacks: ${fix}`;
  }
  for (const [version, { checkValue }] of registered) {
    if (!keyring.versions.includes(version)) continue;
    if (!timingSafeEqual(keyring.checkValue(version), checkValue)) {
      return `version ${version} of the master secret is not the one this database was made with: ${fix}`;
    }
  }
  return null;
}
