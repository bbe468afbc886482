/** Checks who can read and change the files of the server, and whether this user can use them. */

import { accessSync, constants, type Stats, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { quote } from '#platform/terminal';
import type { Config } from '../../config/index.ts';
import { SetupError } from '../../errors.ts';
import {
  credentialExposures,
  logKeyExposures,
  secretExposures,
} from '../../files/secret-exposure.ts';
import { requireWritable } from '../../ledger/admin.ts';
import { type Finding, failed, ok, warning } from './finding.ts';
import type { Site } from './site.ts';

/** Files that belong to the user of the server. */
const OWN_FILES = ['phm.db', 'phm.db-wal', 'phm.db-shm', 'master.key', 'log.key', 'directory.id'];

export function checkPermissions(site: Site): Finding[] {
  const { config } = site;
  if (config.databaseUrl === null && isClosed(config.dataDir)) {
    const detail = `this user may not enter the data directory ${config.dataDir}`;
    return [failed(detail, 'run the command as the user of the server')];
  }
  const found = [
    ...(config.databaseUrl === null ? checkDirectory(site) : []),
    ...checkExposures(site),
    ...(config.log.mode === 'off' ? [] : checkStateFile(config)),
  ];
  return found.length > 0 ? found : [ok('only the user of the server can use its files')];
}

function checkDirectory(site: Site): Finding[] {
  const { dataDir } = site.config;
  const directory = look(dataDir);
  if (directory !== null) return [...checkAccess(dataDir), ...checkOwners(dataDir, directory)];
  const where = site.variable('PHM_DATA_DIR')
    ? 'PHM_DATA_DIR names it'
    : 'PHM_DATA_DIR is not set, so it is ./data in the working directory';
  return [
    warning(
      `there is no data directory ${dataDir}; ${where}`,
      'if your server uses another one, correct the variable; otherwise its first start creates the directory',
    ),
  ];
}

function checkAccess(dataDir: string): Finding[] {
  try {
    requireWritable(join(dataDir, 'phm.db'));
    return [];
  } catch (error) {
    if (error instanceof SetupError) return [failed(error.message)];
    throw error;
  }
}

/** Commands that root ran may have left files that the user of the server cannot write. */
function checkOwners(dataDir: string, { uid }: Stats): Finding[] {
  // The mount point of a volume may belong to root while the server uses it as a member of its group.
  if (uid === 0 || process.platform === 'win32') return [];
  const foreign = OWN_FILES.map((name) => join(dataDir, name)).filter(
    (path) => (look(path)?.uid ?? uid) !== uid,
  );
  return [
    ...(foreign.length > 0
      ? [
          failed(
            `${foreign.join(' and ')} and the directory belong to different users`,
            `run chown ${uid} ${foreign.map(quote).join(' ')}`,
          ),
        ]
      : []),
    ...(process.getuid?.() === 0
      ? [
          warning(
            `this command runs as root, who can use files that user ${uid}, the owner of ${dataDir}, perhaps cannot`,
            'run it as the user of the server',
          ),
        ]
      : []),
  ];
}

/** The warnings of a starting server, and those about further files with secrets. */
function checkExposures(site: Site): Finding[] {
  const { masterSecret, log } = site.config;
  const ofLog = log.mode === 'off' ? [] : logKeyExposures(log.keys);
  const ofOthers = credentialExposures((name) => site.variable(name));
  return [...secretExposures(masterSecret), ...ofLog, ...ofOthers].map((text) => failed(text));
}

function checkStateFile({ log: { stateFile } }: Config): Finding[] {
  const directory = dirname(stateFile);
  const problem = look(directory)?.isDirectory()
    ? accessOf(directory, constants.W_OK | constants.X_OK)
    : 'there is no such directory';
  if (problem === null) return [];
  return [
    failed(
      `the log cannot write its state file ${basename(stateFile)} in ${directory}: ${problem}`,
      'correct that, or move the file and set PHM_LOG_STATE_FILE',
    ),
  ];
}

/** Returns why this user lacks these rights; null if it has them. */
function accessOf(directory: string, rights: number): string | null {
  try {
    accessSync(directory, rights);
    return null;
  } catch (error) {
    const isReadOnly = (error as NodeJS.ErrnoException).code === 'EROFS';
    return isReadOnly ? 'the file system is read-only' : 'permission denied';
  }
}

/** True also if this user may not enter a directory above. */
function isClosed(directory: string): boolean {
  try {
    return look(directory) !== null && accessOf(directory, constants.X_OK) !== null;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EACCES') return true;
    throw error;
  }
}

/** Returns null if there is no such file. */
function look(path: string): Stats | null {
  return statSync(path, { throwIfNoEntry: false }) ?? null;
}
