/**
 * Builds receipts: rebuilds the statement from the ledger's row, checks it against the logged entry, and proves the
 * entry in a signed head (RFC 6962 §2.1.1, c2sp.org/tlog-proof).
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { canonicalJson, formatProof, type KeyStatement } from '#tlog';
import { parseKeyId } from '../../keys/key-id.ts';
import { keyStatement } from '../../keys/statement.ts';
import type { LogPosition, LogStore, RecordedRow } from '../../ledger/index.ts';
import { entryOf, inclusionProof, verifyInclusion } from '../../log/index.ts';
import type { ReceiptAnswer, ReceiptHolder } from './api.ts';
import type { SignedHead } from './heads.ts';
import { StoredTiles } from './tile-source.ts';

/** A log that can prove its entries. */
export interface ProvingLog {
  readonly origin: string;
  /** Returns the head to prove an entry in; null if there is none yet that holds it. */
  readonly headFor: (index: number) => SignedHead | null;
  /** True if the log has published the entry, so that only cosignatures of witnesses are missing. */
  readonly awaitsWitnesses: (index: number) => boolean;
}

interface ReceiptsParts {
  readonly store: Pick<LogStore, 'findLogged' | 'findRecord' | 'readEntries' | 'readTile'>;
  /** Returns an open or closed log of this database; null if its checkpoint cannot be served. */
  readonly logOf: (logId: number) => Promise<ProvingLog | null>;
  /** Called with what differs from the log. */
  readonly onAltered: (keyId: string, reason: string) => void;
}

interface Rebuilt {
  readonly statement: KeyStatement;
  readonly entry: Uint8Array;
}

export class Receipts {
  readonly #parts: ReceiptsParts;

  constructor(parts: ReceiptsParts) {
    this.#parts = parts;
  }

  /** Returns the receipt of a key to its holder. */
  async find(keyId: string, holder: ReceiptHolder): Promise<ReceiptAnswer> {
    const { store, logOf } = this.#parts;
    const id = parseKeyId(keyId);
    const record = id && (await store.findRecord(id));
    if (!id || !isHeldBy(record, holder)) return { kind: 'unknown_key' };
    if (record.receipt === null) return { kind: 'no_receipt' };
    const logged = await store.findLogged(id);
    if (logged === 'pending') return { kind: 'pending' };
    if (logged === null) return { kind: 'no_receipt' };
    const log = await logOf(logged.logId);
    const head = log?.headFor(logged.index);
    if (!log || !head) {
      return { kind: log?.awaitsWitnesses(logged.index) ? 'not_cosigned' : 'pending' };
    }
    const rebuilt = rebuild(record, log.origin);
    if (rebuilt) return this.#prove(rebuilt, keyId, logged, head);
    return this.#altered(keyId, 'its row holds a value that no server wrote: the row was changed');
  }

  async #prove(
    { statement, entry }: Rebuilt,
    keyId: string,
    { logId, index }: LogPosition,
    head: SignedHead,
  ): Promise<ReceiptAnswer> {
    const tiles = new StoredTiles(this.#parts.store, logId);
    if (Buffer.compare(await tiles.entries(index, 1), entry) !== 0) {
      return this.#altered(
        keyId,
        `its row does not give entry ${index} of the log: the row was changed`,
      );
    }
    const hashes = await inclusionProof(tiles, index, head.size);
    if (!verifyInclusion({ entry, index, size: head.size, root: head.root, proof: hashes })) {
      return this.#altered(
        keyId,
        `the tiles do not prove entry ${index} in the published tree of ${head.size} entries: tiles were changed`,
      );
    }
    const proof = formatProof({ extra: null, index, hashes, checkpoint: head.note });
    return { kind: 'receipt', receipt: { statement, proof } };
  }

  #altered(keyId: string, reason: string): ReceiptAnswer {
    this.#parts.onAltered(keyId, reason);
    return { kind: 'altered' };
  }
}

/** Stands for the commitment of a key that has none. */
const NO_COMMITMENT = randomBytes(32);

/** Reports whether a key is the holder's. An unknown key takes the same comparison as a wrong commitment. */
function isHeldBy(
  record: RecordedRow | null | undefined,
  holder: ReceiptHolder,
): record is RecordedRow {
  if (typeof holder === 'string') return record?.accountId === holder;
  const recorded = record?.receipt?.keyCommitment ?? NO_COMMITMENT;
  // A changed row can hold any length.
  return recorded.length === holder.length && timingSafeEqual(recorded, holder);
}

/** Returns the statement about a row; null if a column has a value that only a change outside the service can give it. */
function rebuild(record: RecordedRow, origin: string): Rebuilt | null {
  try {
    const statement = keyStatement(record, origin);
    return { statement, entry: entryOf(canonicalJson(statement)) };
  } catch {
    return null;
  }
}
