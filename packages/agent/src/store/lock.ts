/**
 * One agent for a state directory, and so for a recipient: the lock is a socket that a living process listens on. The
 * system closes it when the process ends, however it ends.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, linkSync, lstatSync, renameSync, rmSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { join } from 'node:path';

/** Another process has the directory. */
export class LockedError extends Error {
  override readonly name = 'LockedError';
}

/** Systems allow socket names of 104 bytes or more. */
export const MAX_DIRECTORY_BYTES = 80;

/** Tries against processes that start and end at the same moment. */
const TRIES = 10;

interface Lock {
  release(): Promise<void>;
}

/** Rejects with `LockedError` if a living process has the lock. */
export async function lockDirectory(directory: string): Promise<Lock> {
  const name = join(directory, 'lock');
  const own = join(directory, `l${randomBytes(4).toString('hex')}`);
  const server = await listen(own);
  try {
    const { ino } = lstatSync(own);
    for (let i = 0; i < TRIES; i += 1) {
      if (take(own, name)) return { release: () => release(server, name, ino) };
      await removeIfDead(directory, name);
    }
    throw new LockedError(`${name} is being taken by others`);
  } catch (error) {
    server.close();
    throw error;
  } finally {
    // Closing a server of Node removes the name that it listened on.
    rmSync(own, { force: true });
  }
}

async function listen(path: string): Promise<Server> {
  const server = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, resolve);
  });
  return server.unref();
}

/** Gives the socket the name of the lock. Returns false if another has it. */
function take(own: string, name: string): boolean {
  try {
    linkSync(own, name);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/**
 * Removes the lock of a dead process. Another process may take its place meanwhile: so the file is moved first, and moved
 * back if it is not the dead one.
 */
async function removeIfDead(directory: string, name: string): Promise<void> {
  const { ino } = lstatSync(name, { throwIfNoEntry: false }) ?? {};
  if (ino === undefined) return;
  if (await isAlive(name)) {
    throw new LockedError(`another agent uses ${directory}: one agent for a recipient`);
  }
  const moved = join(directory, `d${randomBytes(4).toString('hex')}`);
  try {
    renameSync(name, moved);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  if (lstatSync(moved).ino !== ino) take(moved, name);
  rmSync(moved, { force: true });
}

function isAlive(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

async function release(server: Server, name: string, ino: number): Promise<void> {
  if (existsSync(name) && lstatSync(name).ino === ino) rmSync(name, { force: true });
  await new Promise((resolve) => server.close(resolve));
}
