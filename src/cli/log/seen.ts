/**
 * What a monitor remembers of a log: the last checkpoint that it verified, as the log signed it, and beside it in
 * `FILE.policy` the policy that it trusts.
 */

import { createHash } from 'node:crypto';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { CommandError, unwritable } from '#platform/commands';
import { fileProblem, readFailure, readTextFile, replaceable, writeDurably } from '#platform/files';
import { visible } from '#platform/terminal';
import { makeDirectory } from '../../files/make-directory.ts';
import type { CliContext } from '../context.ts';

/** Most bytes of a checkpoint or a policy. */
const MAX_NOTE_BYTES = 2 ** 20;

export interface Seen {
  /** A signed note. */
  readonly checkpoint: string;
  /** Null if there is a checkpoint only. */
  readonly policy: string | null;
}

/** Returns the file of a log in the state directory of the user (XDG Base Directory Specification). */
export function defaultSeenFile({ env }: CliContext, origin: string): string {
  // The specification ignores a path that is not absolute.
  const given = env.XDG_STATE_HOME ?? '';
  const state = isAbsolute(given) ? given : join(homeOf(env), '.local', 'state');
  // An origin may hold any character, so its hash names the file.
  const name = createHash('sha256').update(origin).digest('hex').slice(0, 32);
  return join(state, 'phm', `log-${name}`);
}

/** Returns the home directory. Throws `CommandError` if this user has none, as in many containers. */
function homeOf(env: CliContext['env']): string {
  const home = env.HOME || homeOfUser();
  if (home && isAbsolute(home)) return home;
  throw new CommandError(
    'this user has no home directory: name a file with --state, or set HOME',
    1,
  );
}

/** Returns null if the system does not know this user. */
function homeOfUser(): string | null {
  try {
    return homedir();
  } catch {
    return null;
  }
}

/** Returns what was seen last, or null before the first check. Throws `CommandError` if a file is unreadable. */
export function readSeen(path: string): Seen | null {
  requireOwnState(path);
  const checkpoint = readIfAny(path);
  return checkpoint === null ? null : { checkpoint, policy: readIfAny(policyFile(path)) };
}

/** Remembers a checkpoint, and a policy if there is one. */
export function writeSeen(path: string, { policy, checkpoint }: Seen): void {
  const placement = { replace: true, mayBeLost: true };
  try {
    makeDirectory(dirname(path));
    requireOwnState(path);
    if (policy !== null) writeDurably(policyFile(path), policy, placement);
    writeDurably(path, checkpoint, placement);
  } catch (error) {
    throw error instanceof CommandError ? error : unwritable(path, error);
  }
}

/** Throws `CommandError` if another user could give this monitor a memory, or take its own away. */
function requireOwnState(path: string): void {
  const problem = replaceable(path) ?? fileProblem(path) ?? fileProblem(policyFile(path));
  if (problem !== null) throw new CommandError(`${problem}: name another file with --state`, 1);
}

const policyFile = (path: string): string => `${path}.policy`;

/** Returns the text of a file; null if there is none. Throws `CommandError`. */
export function readIfAny(path: string): string | null {
  try {
    return readTextFile(path, MAX_NOTE_BYTES);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    throw new CommandError(`${visible(path)} cannot be read: ${readFailure(error)}`, 2);
  }
}
