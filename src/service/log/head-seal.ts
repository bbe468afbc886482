/**
 * Seals of stored heads: MACs under the master secret, written with size and root in one transaction.
 *
 * Tiles and roots are public arithmetic. Without a seal, servers would take an entry that a writer of the database
 * appended for the turn of another server, and sign it.
 */
import { AppError } from '../../errors.ts';
import type { HeadSeal } from '../../ledger/index.ts';
import type { LogMacKeys } from '../../proof/index.ts';
import type { EntryMaker } from './audit-record.ts';
import type { Head } from './heads.ts';
import { LogStopped } from './stopped.ts';

export interface SealedHead extends Head {
  readonly seal: HeadSeal;
}

/** `unknown_version`: nothing here can tell. */
type SealVerdict = 'valid' | 'wrong' | 'unknown_version';

/** Returns a head, or a tree with a head, with its seal. */
export function sealed<T extends Head>(
  { log: { origin }, macs, version }: SealMaker,
  head: T,
): T & SealedHead {
  const { size, root } = head;
  return { ...head, seal: { mac: macs.headMac(version, { origin, size, root }), version } };
}

/** Judges the seal of a stored head, in constant time. */
export function judgeSeal(
  macs: Pick<LogMacKeys, 'verifiesHead' | 'versions'>,
  origin: string,
  { size, root, seal: { mac, version } }: SealedHead,
): SealVerdict {
  if (!macs.versions.includes(version)) return 'unknown_version';
  return macs.verifiesHead(version, { origin, size, root }, mac) ? 'valid' : 'wrong';
}

/** What seals the heads of one log. */
interface SealMaker {
  readonly log: Pick<EntryMaker['log'], 'origin'>;
  readonly macs: Pick<LogMacKeys, 'headMac' | 'verifiesHead' | 'versions'>;
  /** The version of the master secret for new seals. */
  readonly version: number;
}

/** The seals of the open log. A server continues only heads that a server sealed. */
export class HeadSeals {
  readonly #maker: SealMaker;
  readonly #registered: () => Promise<ReadonlySet<number>>;

  /** `registered` reads the versions in the database: a server registers its version before it seals a head. */
  constructor(maker: SealMaker, registered: () => Promise<ReadonlySet<number>>) {
    this.#maker = maker;
    this.#registered = registered;
  }

  seal<T extends Head>(head: T): T & SealedHead {
    return sealed(this.#maker, head);
  }

  /** Throws `LogStopped` on a wrong seal, and an error that delays on a version that this server lacks. */
  require(head: SealedHead): void {
    const { version } = head.seal;
    switch (judgeSeal(this.#maker.macs, this.#maker.log.origin, head)) {
      case 'valid':
        return;
      case 'wrong':
        throw this.#unsealed(head, 'has a wrong seal');
      case 'unknown_version':
        throw new AppError('ledger_unavailable', {
          detail:
            `the stored head of the log was sealed under version ${version} of the master secret, which this server ` +
            'lacks: install the whole secret and restart this server',
        });
    }
  }

  /** Rejects as `require` throws, and with `LogStopped` if no server has registered the version. */
  async admit(head: SealedHead): Promise<void> {
    const { version } = head.seal;
    const isHeld = this.#maker.macs.versions.includes(version);
    // After the head was read: a server that sealed it had registered its version.
    if (!isHeld && !(await this.#registered()).has(version)) {
      throw this.#unsealed(
        head,
        `has a seal under version ${version} of the master secret, which no server registered`,
      );
    }
    this.require(head);
  }

  #unsealed({ size }: Head, found: string): LogStopped {
    return new LogStopped(
      `the stored head of the log ${this.#maker.log.origin}, of ${size} entries, ${found}: no server wrote it. Restore ` +
        'the database, and run: phm log check',
    );
  }
}
