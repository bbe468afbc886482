/**
 * Whose files this process believes. What another user planted, or may change, is not the state of this user.
 *
 * Root's files are believed too. So are files that root placed: above them are only directories of root that nobody else
 * can change, as above the volumes and secrets of a container and above `/var/lib/phm`. And so are files that only a group
 * of this process can read, as with an `fsGroup` of Kubernetes. Windows has other permissions, which this does not read.
 */
import { lstatSync, readFileSync, readlinkSync, realpathSync, type Stats, statSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';

const GROUP_WRITES = 0o020;
const OTHERS_WRITE = 0o002;
const OTHERS = 0o007;
const STICKY = 0o1000;
const ROOT = 0;

/** Linux follows as many links (path_resolution(7)). */
const MAX_LINKS = 40;

/** Returns why this process must not believe a file, with what to do; null if it may, or if there is none. */
export function fileProblem(path: string): string | null {
  const stats = look(path);
  if (stats === null) return null;
  const link = linkProblem(path);
  if (link !== null) return link;
  // Not a terminal or /dev/null. Whoever owns a named pipe may write to it what this process takes for a file.
  if (!stats.isFile() && !stats.isFIFO()) return null;
  if (stats.mode & OTHERS_WRITE) {
    return `every user of this machine can change ${path} (mode ${octal(stats)}): check its content, then run chmod o-w on it`;
  }
  if (isBelieved(stats.uid) || isShared(stats) || isPlaced(path)) return null;
  return `${path} belongs to another user (uid ${stats.uid}): if it is yours, run chown ${self()} on it, or run this as its owner`;
}

/**
 * Returns the other user whose directory it is, unless only root could have placed it; null if none. Others may write to the
 * directory, as to some volumes: then each file there is examined alone.
 */
export function otherOwner(path: string): number | null {
  const stats = look(path);
  const isFromRoot = parents(realPath(path)).every((parent) => isRoots(look(parent)));
  return stats === null || isBelieved(stats.uid) || isFromRoot ? null : stats.uid;
}

/**
 * Returns why this user must not keep files in a directory, with what to do; null if nobody else can put files there or
 * replace the directory. It may be missing: then this is said of its place.
 */
export function directoryProblem(path: string): string | null {
  const stats = look(path);
  const problem =
    linkProblem(path) ?? (stats && changeable(path, stats, false)) ?? replaceable(path);
  return problem === null ? null : `${problem}: name a directory of your own`;
}

/** Returns who can replace a file or directory, because a directory above it is theirs; null if no one. */
export function replaceable(path: string): string | null {
  const [target, literal] = [realPath(path), resolve(path)];
  for (const above of new Set([...parents(literal), ...parents(target)])) {
    const by = changeable(above, look(above), true);
    if (by !== null) return `${path} can be replaced, because ${by}`;
  }
  return null;
}

/** Returns who owns or can change the directory beside this user and root; null if no one. */
function changeable(path: string, stats: Stats | null, isAbove: boolean): string | null {
  if (stats === null) return null;
  if (!isBelieved(stats.uid) && !(isAbove && isUnmapped(stats.uid))) {
    return `${path} belongs to another user (uid ${stats.uid})`;
  }
  // In a directory with this bit, only the owner of an entry can replace it.
  if (isAbove && stats.mode & STICKY) return null;
  if (stats.mode & OTHERS_WRITE) {
    return `every user of this machine can write to ${path} (mode ${octal(stats)})`;
  }
  const isOpen = stats.mode & GROUP_WRITES && stats.gid !== ROOT && !isOwnGroup(stats);
  return isOpen ? `its group ${stats.gid} can write to ${path} (mode ${octal(stats)})` : null;
}

/**
 * Returns which link on a path another user made, and so could turn to another place; null if none. The last part of the
 * path may be missing.
 */
export function linkProblem(path: string): string | null {
  if (self() === undefined) return null;
  const parts = resolve(path).split('/').reverse();
  let at = '/';
  for (let links = 0; parts.length > 0; ) {
    const part = parts.pop() as string;
    const next = join(at, part);
    const stats = part === '' ? null : lookAtLink(next);
    if (!stats?.isSymbolicLink()) {
      at = next;
      continue;
    }
    if (!isBelieved(stats.uid)) {
      return `${next} is a link of another user (uid ${stats.uid}), which could lead anywhere: name the file itself`;
    }
    links += 1;
    if (links > MAX_LINKS) return null;
    const target = readlinkSync(next);
    if (isAbsolute(target)) at = '/';
    parts.push(...target.split('/').reverse());
  }
  return null;
}

/** Reports whether a file is for a group of this process alone: only root puts a process into a group. */
function isShared({ gid, mode }: Stats): boolean {
  return (mode & OTHERS) === 0 && gid !== ROOT && (process.getgroups?.().includes(gid) ?? false);
}

/** Reports whether only root could have put a file, or the directory that holds it, where it is. */
function isPlaced(path: string): boolean {
  const directory = dirname(realPath(path));
  const holder = look(directory);
  if (holder === null || holder.mode & OTHERS_WRITE) return false;
  if (parents(directory).some((parent) => !isRoots(look(parent)))) return false;
  // Another user's own directory, such as a home, is for that user and for root.
  return isBelieved(holder.uid) || self() === ROOT;
}

function isRoots(stats: Stats | null): boolean {
  if (stats === null || (stats.uid !== ROOT && !isUnmapped(stats.uid))) return false;
  return !(stats.mode & OTHERS_WRITE) && (!(stats.mode & GROUP_WRITES) || stats.gid === ROOT);
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
}

/** Returns the directories above a path, from the nearest to the root. */
function parents(path: string): string[] {
  const parent = dirname(resolve(path));
  return parent === resolve(path) ? [] : [parent, ...parents(parent)];
}

const isBelieved = (uid: number): boolean => uid === ROOT || self() === undefined || uid === self();

/** Reports whether the group is the user's own: such groups have the user's number and no other member. */
function isOwnGroup({ uid, gid }: Stats): boolean {
  return gid === uid;
}

/** The user of this process; undefined on Windows. */
const self = (): number | undefined => process.geteuid?.();

/** In a user namespace, files of the root outside appear as those of this user. */
const UNMAPPED = 65_534;
let hasAllUsers: boolean | undefined;

function isUnmapped(uid: number): boolean {
  if (uid !== UNMAPPED) return false;
  hasAllUsers ??= readsAllUsers();
  return !hasAllUsers;
}

/** user_namespaces(7): outside any, the map is the identity on all numbers. */
function readsAllUsers(): boolean {
  try {
    return /^\s*0\s+0\s+4294967295\s*$/.test(readFileSync('/proc/self/uid_map', 'latin1'));
  } catch {
    return true;
  }
}

const octal = ({ mode }: Stats): string => (mode & 0o7777).toString(8).padStart(4, '0');

/** Returns null if there is no such file, or if it cannot be seen: using it then fails with the reason. */
function look(path: string): Stats | null {
  try {
    return self() === undefined ? null : (statSync(path, { throwIfNoEntry: false }) ?? null);
  } catch {
    return null;
  }
}

function lookAtLink(path: string): Stats | null {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) ?? null;
  } catch {
    return null;
  }
}
