/** Reads a log from an address or a folder in the form of c2sp.org/tlog-tiles. Every input is bounded. */

import { constants, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { CommandError } from '#platform/commands';
import { decodeText, type TextError } from '#platform/files';
import { FormatError, parseEntries, TILE_WIDTH, tilePath } from '#tlog';
import { cleartextProxyProblem } from '../../config/index.ts';
import type { LogSource } from '../../inspection/index.ts';
import type { CliContext } from '../context.ts';
import { readStreamBounded } from '../read-bounded.ts';
import { offerEveryGroup } from '../tls-groups.ts';

/** A log that is published. Methods throw `CommandError` if the place cannot be read at all. */
export interface PublishedLog extends LogSource {
  /** The address or the folder. */
  readonly name: string;
  /** Returns the newest signed checkpoint. */
  checkpoint(): Promise<string>;
  /** Returns the policy that the log publishes, or null. */
  policy(): Promise<string | null>;
}

const HASH_BYTES = 32;

/** c2sp.org/signed-note: notes of this program have at most 1 MiB. */
const MAX_NOTE_BYTES = 2 ** 20;

/** The largest bundle: 256 entries of 65,535 bytes, each with its length. */
const MAX_BUNDLE_BYTES = TILE_WIDTH * (2 + 65_535);

/** Reads one file of a log: at most `maxBytes`; null if there is no such file. */
type ReadFile = (path: string, maxBytes: number) => Promise<Uint8Array | null>;

/** Opens the log at an address or in a folder. Throws `CommandError` for anything else. */
export async function openSource(
  place: string,
  signal: AbortSignal,
  { env }: Pick<CliContext, 'env'>,
): Promise<PublishedLog> {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(place)) return staticLog(place, folderReader(place));
  const prefix = requireAddress(place);
  const problem = cleartextProxyProblem(new URL(prefix), env);
  if (problem !== null) throw new CommandError(problem, 2);
  const read = addressReader(prefix, signal);
  // An address of the service, not of its log, is a likely mistake with one meaning.
  if ((await read('checkpoint', MAX_NOTE_BYTES)) !== null) return staticLog(prefix, read);
  const below = `${prefix}/log`;
  return staticLog(below, addressReader(below, signal));
}

function requireAddress(text: string): string {
  const url = URL.parse(text);
  const isHttp = url?.protocol === 'https:' || url?.protocol === 'http:';
  if (url && isHttp && !url.username && !url.password && !/[?#]/.test(text)) {
    return text.replace(/\/+$/, '');
  }
  throw new CommandError(
    'the address of the log is not usable: write https://host/path, without user, query or fragment',
    2,
  );
}

function staticLog(name: string, read: ReadFile): PublishedLog {
  /** A full tile may have replaced the partial one (c2sp.org/tlog-tiles, Partial Tiles). */
  const readTile = async (level: number | 'entries', index: number, width: number, max: number) =>
    (await read(tilePath(level, index, width), max)) ??
    (width < TILE_WIDTH ? await read(tilePath(level, index), max) : null);
  return {
    name,
    async checkpoint() {
      const note = await read('checkpoint', MAX_NOTE_BYTES);
      if (note !== null) return textOf(note, `${name}/checkpoint`);
      throw new CommandError(
        `there is no log at ${name}: it has no file "checkpoint". Name the address or folder that has one`,
        1,
      );
    },
    async policy() {
      const policy = await read('policy', MAX_NOTE_BYTES);
      return policy && textOf(policy, `${name}/policy`);
    },
    async tile(level, index, width) {
      const hashes = await readTile(level, index, width, TILE_WIDTH * HASH_BYTES);
      if (!hashes || hashes.length < width * HASH_BYTES) return null;
      return hashes.subarray(0, width * HASH_BYTES);
    },
    async entries(index, width) {
      const bundle = await readTile('entries', index, width, MAX_BUNDLE_BYTES);
      const entries = bundle && parsedEntries(bundle);
      return entries && entries.length >= width ? entries.slice(0, width) : null;
    },
  };
}

function parsedEntries(bundle: Uint8Array): Uint8Array[] | null {
  try {
    return parseEntries(bundle);
  } catch (error) {
    if (error instanceof FormatError) return null;
    throw error;
  }
}

function textOf(bytes: Uint8Array, name: string): string {
  try {
    return decodeText(bytes);
  } catch (error) {
    throw new CommandError(`${name} cannot be read: ${(error as TextError).message}`, 2);
  }
}

function folderReader(folder: string): ReadFile {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
    throw new CommandError(
      `${folder} is not a folder: name a folder with a copy of a log, or an address that begins with https://`,
      2,
    );
  }
  return async (path, maxBytes) => {
    const name = join(folder, path);
    try {
      // Folders of strangers may hold a named pipe, whose other end nobody opens.
      await using file = await open(name, constants.O_RDONLY | constants.O_NONBLOCK);
      const stats = await file.stat();
      if (stats.isDirectory()) return null;
      if (!stats.isFile()) throw new CommandError(`${name} is not a regular file`, 1);
      const content = await readStreamBounded(file.createReadStream(), maxBytes);
      if (content === null) throw tooLong(name, maxBytes);
      return content;
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'EISDIR') return null;
      if (error instanceof CommandError) throw error;
      throw new CommandError(`${name} cannot be read: ${message}`, 1);
    }
  };
}

/** Pauses before the second, third and fourth attempt. */
const RETRY_PAUSES_MS = [250, 1_000, 4_000] as const;

/** Time for one file. */
const TIMEOUT_MS = 30_000;

function addressReader(prefix: string, signal: AbortSignal): ReadFile {
  offerEveryGroup();
  return async (path, maxBytes) => {
    const url = `${prefix}/${path}`;
    for (let attempt = 0; ; attempt++) {
      const answer = await fetchFile(url, maxBytes, signal);
      if (!(answer instanceof Error)) return answer;
      signal.throwIfAborted();
      const pause = RETRY_PAUSES_MS[attempt];
      if (pause === undefined) {
        throw new CommandError(`${url} cannot be read: ${answer.message}`, 1);
      }
      await wait(pause, undefined, { signal });
    }
  };
}

/** Resolves with the content, with null if there is no such file, or with an error after which a retry may help. */
async function fetchFile(
  url: string,
  maxBytes: number,
  signal: AbortSignal,
): Promise<Uint8Array | null | Error> {
  try {
    const timeout = AbortSignal.timeout(TIMEOUT_MS);
    const response = await fetch(url, {
      headers: { 'accept-encoding': 'identity' },
      redirect: 'manual',
      signal: AbortSignal.any([signal, timeout]),
    });
    if (response.ok) return await readBody(response, url, maxBytes);
    await response.body?.cancel();
    if (response.status === 404 || response.status === 410) return null;
    if (response.status === 429 || response.status >= 500) {
      return new Error(`the server answered ${response.status}`);
    }
    const isRedirect = response.status >= 300 && response.status < 400;
    const more = isRedirect ? ': redirects are not followed, so name the address itself' : '';
    const reason = `the server answered ${response.status}${more}`;
    throw new CommandError(`${url} cannot be read: ${reason}`, 1);
  } catch (error) {
    if (error instanceof CommandError) throw error;
    const { message, cause } = error as Error;
    return new Error(cause instanceof Error ? cause.message || message : message);
  }
}

async function readBody(response: Response, url: string, maxBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body ?? []) {
    length += chunk.length;
    if (length > maxBytes) throw tooLong(url, maxBytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function tooLong(name: string, maxBytes: number): CommandError {
  return new CommandError(`${name} is longer than the ${maxBytes} bytes that it may have`, 1);
}
