/**
 * Decides which pending entries a turn may append: those with the MAC of a server.
 *
 * An entry under a version of the master secret that this server lacks must wait for a server that has it. But if no
 * server has registered the version, a writer of the database has made the entry up, and it would hold up the log.
 */
import { AppError } from '../../errors.ts';
import type { PendingEntry } from '../../ledger/index.ts';
import type { LogMacKeys } from '../../proof/index.ts';

/** A turn found entries under versions that this server lacks, and must roll back. */
export class UnknownVersion extends Error {
  override readonly name = 'UnknownVersion';
}

export class EntryJudge {
  readonly #macs: Pick<LogMacKeys, 'verifies' | 'versions'>;
  readonly #registered: () => Promise<ReadonlySet<number>>;
  #unknown: PendingEntry[] = [];
  /** IDs of entries under versions that were not registered after the entries were seen. */
  readonly #refused = new Set<string>();

  /** `registered` reads the versions in the database: a server registers its version before it generates keys. */
  constructor(
    macs: Pick<LogMacKeys, 'verifies' | 'versions'>,
    registered: () => Promise<ReadonlySet<number>>,
  ) {
    this.#macs = macs;
    this.#registered = registered;
  }

  /** Returns false if the entry must be set aside. */
  judge(entry: PendingEntry): boolean {
    const { secretVersion, entryId, mac } = entry;
    if (this.#macs.versions.includes(secretVersion)) {
      return this.#macs.verifies(secretVersion, entryId, entry.entry, mac);
    }
    if (this.#refused.has(nameOf(entry))) return false;
    this.#unknown.push(entry);
    return true;
  }

  /** Throws `UnknownVersion` if an entry judged since the last call must not be appended. */
  requireKnown(): void {
    if (this.#unknown.length > 0) throw new UnknownVersion();
  }

  /** Sorts out the entries behind `UnknownVersion`, for another turn. Rejects if a server will take one of them. */
  async learn(): Promise<void> {
    const unknown = this.#unknown;
    this.#unknown = [];
    const versions = await this.#registered();
    const [waiting] = unknown.filter(({ secretVersion }) => versions.has(secretVersion));
    for (const entry of unknown) {
      if (!versions.has(entry.secretVersion)) this.#refused.add(nameOf(entry));
    }
    if (!waiting) return;
    throw new AppError('ledger_unavailable', {
      detail:
        `an entry was made under version ${waiting.secretVersion} of the master secret, which this server lacks: ` +
        'install the whole secret and restart this server',
    });
  }
}

function nameOf({ entryId }: PendingEntry): string {
  return Buffer.from(entryId).toString('hex');
}
