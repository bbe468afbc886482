/**
 * A copy of a log in a folder: checkpoint, policy, tiles and entries as c2sp.org/tlog-tiles names them, so that any
 * static web server can serve it and `phm log recover` can read it.
 *
 * Tiles are written while they are read, the checkpoint last. What the copy's checkpoint covers is never replaced: a
 * log that was rewritten cannot overwrite the evidence.
 */

import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { requireOwnDirectory, unwritable } from '#platform/commands';
import { writeDurably } from '#platform/files';
import { formatEntries, TILE_WIDTH, tilePath } from '#tlog';
import type { TreeCopy } from '../../inspection/index.ts';
import type { FindingKind, Findings } from '../../ledger/admin.ts';

const DIFFERS: FindingKind = {
  problem: 'files of the copy differ from the log',
  remedy:
    'The copy keeps its own. If the roots agree, the copy is damaged: remove these files and run the check again.',
};

const HASH_BYTES = 32;

export class LogCopy implements TreeCopy {
  readonly #folder: string;
  readonly #findings: Findings;
  /** Entries that the checkpoint of the copy covers. */
  readonly #covered: number;
  readonly #partial: string[] = [];
  /** Folders of partial tiles that a full one replaces. */
  readonly #replaced: string[] = [];

  /** Creates the folder if it is missing. Throws `CommandError`. */
  constructor(folder: string, covered: number, findings: Findings) {
    this.#folder = folder;
    this.#covered = covered;
    this.#findings = findings;
    requireOwnDirectory(folder);
    this.#write(() => mkdirSync(folder, { recursive: true }));
  }

  keepEntries(index: number, entries: readonly Uint8Array[]): void {
    const path = tilePath('entries', index, entries.length);
    this.#keep(path, entries.length, index, 0, formatEntries(entries));
  }

  keepTile(level: number, index: number, hashes: Uint8Array): void {
    const width = hashes.length / HASH_BYTES;
    this.#keep(tilePath(level, index, width), width, index, level, hashes);
  }

  /** Makes the copy that of this checkpoint. */
  finish(note: string, policy: string): void {
    this.#write(() => {
      writeDurably(join(this.#folder, 'policy'), policy, { replace: true });
      writeDurably(join(this.#folder, 'checkpoint'), note, { replace: true });
      for (const path of this.#partial) removeOthers(path);
      for (const path of this.#replaced) rmSync(path, { recursive: true, force: true });
    });
  }

  #keep(path: string, width: number, index: number, level: number, bytes: Uint8Array): void {
    const target = join(this.#folder, path);
    const existing = readIfAny(target);
    if (width < TILE_WIDTH) this.#partial.push(target);
    else this.#replaced.push(`${target}.p`);
    if (existing && Buffer.compare(existing, bytes) === 0) return;
    const end = (index * TILE_WIDTH + width) * TILE_WIDTH ** level;
    if (existing && end <= this.#covered) {
      this.#findings.add(DIFFERS, path);
      return;
    }
    this.#write(() => {
      mkdirSync(dirname(target), { recursive: true });
      writeFileSync(target, bytes);
    });
  }

  #write(work: () => void): void {
    try {
      work();
    } catch (error) {
      throw unwritable(this.#folder, error);
    }
  }
}

function readIfAny(path: string): Buffer | null {
  try {
    return readFileSync(path);
  } catch {
    return null;
  }
}

/** Removes the partial tiles of other widths, which belonged to earlier checkpoints. */
function removeOthers(path: string): void {
  for (const name of readdirSync(dirname(path))) {
    if (name !== basename(path)) rmSync(join(dirname(path), name));
  }
}
