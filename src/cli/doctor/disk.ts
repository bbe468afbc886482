/** Checks the free space for the database and for the state file of the log. */

import { dirname } from 'node:path';
import { temporaryFiles } from '#platform/files';
import { diskSpace } from '../../files/disk-space.ts';
import { type Finding, failed, ok, Skipped, skipped, warning } from './finding.ts';
import type { Site } from './site.ts';

const MIB = 2 ** 20;

const PAGE = 'docs/incidents.md#a-full-disk';

/** Most unfinished files to name. */
const MAX_NAMES = 5;

interface Place {
  readonly directory: string;
  readonly holds: string;
  /** Bytes without which servers cannot work. */
  readonly leastBytes: number;
  /** Part of the file system that should be free. */
  readonly leastPart: number;
}

export async function checkDisk(site: Site): Promise<Finding[]> {
  const places = placesOf(site);
  if (places.length === 0) throw new Skipped('this machine keeps neither database nor log');
  const found = await Promise.all(places.map(checkPlace));
  const isSound = found.every(({ status }) => status === 'ok');
  return isSound ? [ok(found.map(({ detail }) => detail).join('; '))] : found;
}

function placesOf({ config }: Site): Place[] {
  // A long write-ahead log, and a large batch.
  const database = { holds: 'the database', leastBytes: 64 * MIB, leastPart: 0.05 };
  const state = { holds: 'the state file of the log', leastBytes: MIB, leastPart: 0 };
  return [
    ...(config.databaseUrl === null ? [{ directory: config.dataDir, ...database }] : []),
    ...(config.log.mode === 'off' ? [] : [{ directory: dirname(config.log.stateFile), ...state }]),
  ];
}

async function checkPlace({ directory, holds, leastBytes, leastPart }: Place): Promise<Finding> {
  const space = await diskSpace(directory);
  if (space === null) return skipped(`the space for ${holds} in ${directory} is unknown`);
  const { freeBytes, sizeBytes } = space;
  const free = `${sizeText(freeBytes)} of ${sizeText(sizeBytes)} free for ${holds} in ${directory}`;
  const isFull = freeBytes < leastBytes;
  if (!isFull && freeBytes >= leastPart * sizeBytes) return ok(free);
  const found = `${free}${unfinished(directory)}`;
  if (isFull) return failed(found, `free space: a full disk stops keys or the log: ${PAGE}`);
  return warning(found, `free space, or enlarge the disk: ${PAGE}`);
}

/** Names unfinished files in the directory, which may be left of processes that were killed. */
function unfinished(directory: string): string {
  const names = temporaryFiles(directory);
  if (names.length === 0) return '';
  const more = names.length > MAX_NAMES ? `, and ${names.length - MAX_NAMES} more` : '';
  return `; unfinished files there: ${names.slice(0, MAX_NAMES).join(', ')}${more}`;
}

function sizeText(bytes: number): string {
  const mebibytes = bytes / MIB;
  return mebibytes < 1024 ? `${mebibytes.toFixed(1)} MiB` : `${(mebibytes / 1024).toFixed(1)} GiB`;
}
