/** Encrypts, decrypts and reseals files, in Node. An output appears under its name when it is whole, or not at all. */
import { assertBoolean, assertObject, assertSignal } from '../options.ts';
import type { SealHeader } from '../sealing/formats.ts';
import { EncryptedFileError } from './errors.ts';
import { type EncryptOptions, type KeyService, newFileKey } from './file-key.ts';
import { nodeModule } from './node.ts';
import {
  type DecryptOptions,
  decryptChunks,
  type EncryptedFileInfo,
  encryptChunks,
  type FileChunks,
  type ResealOptions,
  readFileKey,
  resealChunks,
} from './streams.ts';

/** What to do with the output. */
export interface OutputOptions {
  /** Path of the output. By default `encryptFile` adds `.phm`, `decryptFile` removes it, and `reseal` takes the path of the file. */
  readonly out?: string | undefined;
  /** Replaces an output that is there. Default false; for `reseal` without `out` it is true. */
  readonly overwrite?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface WrittenFile {
  /** Path of the output. */
  readonly path: string;
  /** What the sealed key states in the open; `key_id` names the record of the key. */
  readonly header: SealHeader;
}

const SUFFIX = '.phm';
const CHUNK_BYTES = 2 ** 20;

/** A character takes four bytes at most, the rest of the name 42, and file systems allow 255. */
const MAX_START = 50;

/** Modes of new files. What was decrypted is for its owner. */
const [FOR_ALL, FOR_OWNER] = [0o666, 0o600];

/** Encrypts a file under a key of its own. `PhmClient.encryptFile` calls it. */
export async function encryptFile(
  service: KeyService,
  path: string,
  options: EncryptOptions & OutputOptions,
): Promise<WrittenFile> {
  // What is left of the options is about the key.
  const { out = `${checkPath(path)}${SUFFIX}`, overwrite, ...order } = options;
  return write(path, { out, overwrite, signal: order.signal, mode: FOR_ALL }, async (source) => {
    const fileKey = await newFileKey(service, order);
    return { header: fileKey.header, chunks: encryptChunks(source, fileKey) };
  });
}

/**
 * Decrypts a file. Sends nothing. Rejects with `EncryptedFileError`, and then leaves no output.
 * The output can be read by its owner only.
 */
export async function decryptFile(
  path: string,
  options: DecryptOptions & OutputOptions,
): Promise<WrittenFile> {
  assertObject('the options', options, '{ recipientKey }');
  const out = options.out ?? withoutSuffix(checkPath(path));
  return write(path, { ...options, out, mode: FOR_OWNER }, (source) =>
    decryptChunks(source, options),
  );
}

/**
 * Seals the key of an encrypted file to another recipient. Sends nothing. The content is copied as it is, and not decrypted.
 * Without `out` the file is replaced, when the new one is whole. It keeps its permissions, and a link to it stays a link.
 */
export async function reseal(
  path: string,
  options: ResealOptions & OutputOptions,
): Promise<WrittenFile> {
  assertObject('the options', options, '{ recipientKey, to }');
  const { out = checkPath(path), overwrite = options.out === undefined } = options;
  const output = { ...options, out, overwrite, mode: FOR_ALL, isSameFile: out === path };
  return write(path, output, (source) => resealChunks(source, options));
}

/** Reads the sealed key of an encrypted file. Needs no private key. */
export async function encryptedFileKey(path: string): Promise<EncryptedFileInfo> {
  const handle = await fileSystem().open(checkPath(path), 'r');
  try {
    return await readFileKey(await chunksOfFile(handle));
  } finally {
    await handle.close();
  }
}

interface Output extends OutputOptions {
  readonly out: string;
  readonly mode: number;
  /** The output is the file itself, with another beginning. */
  readonly isSameFile?: boolean;
}

/** Writes what `work` makes of a file. The output has its name when it is whole. */
async function write(
  path: string,
  { out, overwrite = false, mode, isSameFile = false, signal }: Output,
  work: (source: AsyncIterable<Uint8Array>) => Promise<FileChunks>,
): Promise<WrittenFile> {
  const files = fileSystem();
  checkPath(path);
  checkPath(out);
  assertBoolean('overwrite', overwrite);
  assertSignal(signal);
  const source = await files.open(path, 'r');
  try {
    await (overwrite ? refuseOther(files, out) : refuseExisting(files, out));
    // Otherwise the new file would take the place of a link, and the file that it names would stay as it was.
    const place = isSameFile ? await files.realpath(out) : out;
    const begin = async (target: Handle) => {
      if (isSameFile) await resemble(target, source);
      return work(await chunksOfFile(source));
    };
    const header = await make(files, { place, overwrite, mode }, async (target) => {
      const written = await writeAll(target, () => begin(target), signal);
      // Windows replaces no file that is open.
      await source.close();
      return written;
    });
    return { path: out, header };
  } finally {
    await source.close();
  }
}

interface Place extends Pick<Output, 'mode'> {
  readonly place: string;
  readonly overwrite: boolean;
}

/** Makes a file, and gives it its name when `fill` has written and closed it. Leaves nothing if a step fails. */
async function make<T>(
  files: FileSystem,
  { place, overwrite, mode }: Place,
  fill: (file: Handle) => Promise<T>,
): Promise<T> {
  const part = partOf(place);
  const file = await files.open(part, 'wx', mode);
  try {
    const made = await fill(file);
    await (overwrite ? files.rename(part, place) : giveName(files, part, place));
    await syncFolder(files, place);
    return made;
  } catch (error) {
    await files.rm(part, { force: true });
    throw error;
  }
}

/** Errors which mean that a folder cannot be synced at all, not that a sync failed. Windows opens no folder. */
const CANNOT_SYNC: readonly unknown[] = ['EINVAL', 'ENOTSUP', 'EACCES', 'EPERM', 'EISDIR'];

/** Makes a name durable: the caller may delete the plaintext next, also from another disk. */
async function syncFolder(files: FileSystem, path: string): Promise<void> {
  let folder: Handle | undefined;
  try {
    folder = await files.open(paths().dirname(path), 'r');
    await folder.sync();
  } catch (error) {
    if (!CANNOT_SYNC.includes(codeOf(error))) throw error;
  } finally {
    await folder?.close();
  }
}

/** Returns a name beside the output. It shortens a long one, so that the result stays within the file system's limit. */
function partOf(out: string): string {
  const name = paths().basename(out);
  const folder = out.slice(0, out.lastIndexOf(name));
  return `${folder}${name.slice(0, MAX_START)}.${crypto.randomUUID()}.part`;
}

/** Gives a file the permissions of the one that it replaces, and its owner and group as far as this user may. */
async function resemble(file: Handle, old: Handle): Promise<void> {
  const [{ mode, uid, gid }, own] = await Promise.all([old.stat(), file.stat()]);
  if (uid !== own.uid || gid !== own.gid) {
    // Only root gives files away. Other users may give them to their groups.
    const group = () => file.chown(own.uid, gid).catch(() => undefined);
    await file.chown(uid, gid).catch(group);
  }
  const permissions = mode & 0o777;
  if (permissions !== (own.mode & 0o777)) await file.chmod(permissions);
}

/** Writes what `work` makes, and closes the file. */
async function writeAll(
  file: Handle,
  work: () => Promise<FileChunks>,
  signal: AbortSignal | undefined,
): Promise<SealHeader> {
  const writer = new Writer(file);
  try {
    const { header, chunks } = await work();
    // Nothing comes between: chunks that nobody begins to read do not wipe their key.
    for await (const chunk of chunks) {
      signal?.throwIfAborted();
      await writer.write(chunk);
    }
    await writer.end();
    // Otherwise a crash of the machine could leave the name without the content.
    await file.sync();
    return header;
  } finally {
    await file.close();
  }
}

/** Shorter chunks wait for the next one: the tag of a segment takes no write of its own. */
const SMALL_BYTES = 1024;

/** Writes a chunk while the next one is made. */
class Writer {
  readonly #file: Handle;
  #waiting: Uint8Array[] = [];
  #last: Promise<void> = Promise.resolve();

  constructor(file: Handle) {
    this.#file = file;
  }

  /** Resolves when the chunk before is written. Rejects if that failed. */
  async write(chunk: Uint8Array): Promise<void> {
    this.#waiting.push(chunk);
    if (chunk.length < SMALL_BYTES) return;
    await this.#flush();
  }

  async end(): Promise<void> {
    await this.#flush();
    await this.#last;
  }

  async #flush(): Promise<void> {
    await this.#last;
    const parts = this.#waiting;
    this.#waiting = [];
    this.#last = writeParts(this.#file, parts);
    // `write` or `end` reports it.
    this.#last.catch(() => undefined);
  }
}

async function writeParts(file: Handle, parts: readonly Uint8Array[]): Promise<void> {
  if (parts.length === 0) return;
  let { bytesWritten: done } = await file.writev(parts);
  for (const part of parts) {
    // A write may take a part.
    let at = Math.min(done, part.length);
    while (at < part.length) at += (await file.write(part, at)).bytesWritten;
    done = Math.max(0, done - part.length);
  }
}

/**
 * Resolves with the chunks of a file when the first is there: no key is asked for a folder, or for a disk that fails. Reads on
 * meanwhile. A chunk is valid until the one after the next is asked for. Only the last is short, also from a pipe: `Writer`
 * lets short chunks wait.
 */
async function chunksOfFile(handle: Handle): Promise<AsyncGenerator<Uint8Array>> {
  // One is read into, one is at the reader, and one may still be written.
  const buffers = [0, 1, 2].map(() => new Uint8Array(CHUNK_BYTES));
  const read = (i: number) => fill(handle, buffers[i % buffers.length] as Uint8Array);
  return readOn(await read(0), read);
}

async function* readOn(
  first: Uint8Array,
  read: (i: number) => Promise<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  let chunk = first;
  for (let i = 1; chunk.length > 0; i += 1) {
    const next = read(i);
    // Whoever asks for the next chunk gets it.
    next.catch(() => undefined);
    yield chunk;
    chunk = await next;
  }
}

/** Reads until the buffer is full or the file ends. Returns what was read. */
async function fill(handle: Handle, buffer: Uint8Array): Promise<Uint8Array> {
  for (let have = 0; have < buffer.length; ) {
    const { bytesRead } = await handle.read(buffer, have, buffer.length - have);
    if (bytesRead === 0) return buffer.subarray(0, have);
    have += bytesRead;
  }
  return buffer;
}

/** Gives a file its name unless another has it. */
async function giveName(files: FileSystem, part: string, out: string): Promise<void> {
  try {
    await files.link(part, out);
  } catch (error) {
    if (codeOf(error) === 'EEXIST') throw outputExists(out);
    // File systems without hard links, such as FAT, have nothing that is atomic.
    await refuseExisting(files, out);
    return files.rename(part, out);
  }
  await files.rm(part);
}

async function refuseExisting(files: FileSystem, out: string): Promise<void> {
  try {
    await files.lstat(out);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return;
    throw error;
  }
  throw outputExists(out);
}

/** Refuses to replace what is no file: another name in its place would destroy a device, such as /dev/null. */
async function refuseOther(files: FileSystem, out: string): Promise<void> {
  const stats = await files.stat(out).catch((error: unknown) => {
    if (codeOf(error) !== 'ENOENT') throw error;
  });
  if (stats === undefined || stats.isFile()) return;
  throw new EncryptedFileError(
    'output_exists',
    `${out} is not a regular file, and is not replaced: name another output.`,
  );
}

function outputExists(out: string): EncryptedFileError {
  return new EncryptedFileError(
    'output_exists',
    `${out} exists: give another path as out, or overwrite: true.`,
  );
}

function codeOf(error: unknown): unknown {
  return (error as { readonly code?: unknown } | null)?.code;
}

function checkPath(path: string): string {
  if (typeof path === 'string' && path !== '') return path;
  throw new TypeError(`the path of a file must be a string that is not empty, got ${typeof path}`);
}

function withoutSuffix(path: string): string {
  if (path.endsWith(SUFFIX) && path.length > SUFFIX.length) return path.slice(0, -SUFFIX.length);
  throw new TypeError(`the path does not end with ${SUFFIX}: give the path of the output as out`);
}

/** The part of `node:fs/promises` that is used here. */
interface FileSystem {
  open(path: string, flags: string, mode?: number): Promise<Handle>;
  link(from: string, to: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  rm(path: string, options?: { readonly force: boolean }): Promise<void>;
  lstat(path: string): Promise<unknown>;
  realpath(path: string): Promise<string>;
  stat(path: string): Promise<{ isFile(): boolean }>;
}

/** The part of `node:path` that is used here. */
interface Paths {
  basename(path: string): string;
  dirname(path: string): string;
}

interface Handle {
  read(buffer: Uint8Array, offset: number, length: number): Promise<{ readonly bytesRead: number }>;
  write(buffer: Uint8Array, offset: number): Promise<{ readonly bytesWritten: number }>;
  writev(buffers: readonly Uint8Array[]): Promise<{ readonly bytesWritten: number }>;
  stat(): Promise<{ readonly mode: number; readonly uid: number; readonly gid: number }>;
  chown(uid: number, gid: number): Promise<void>;
  chmod(mode: number): Promise<void>;
  sync(): Promise<void>;
  close(): Promise<void>;
}

function paths(): Paths {
  return nodeModule('path') as Paths;
}

function fileSystem(): FileSystem {
  const files = nodeModule<FileSystem>('fs/promises');
  if (files !== undefined) return files;
  throw new TypeError(
    'files need Node 20.16, 22.3 or newer; encryptStream and decryptStream work everywhere',
  );
}
