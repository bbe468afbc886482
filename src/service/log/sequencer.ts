/** Moves waiting entries into the tree and has the new head published. */
import type { Edge, LogStore, TurnOutcome } from '../../ledger/index.ts';
import { extendTree, TreeError } from '../../log/index.ts';
import { type EntryJudge, UnknownVersion } from './entry-judge.ts';
import type { HeadSeals } from './head-seal.ts';
import { type Head, isSameHead, type SignedHead } from './heads.ts';
import type { Publisher } from './publisher.ts';
import { LogStopped } from './stopped.ts';

/** Entries of one turn, which publishes one head. */
const TURN_LIMIT = 4_096;

/**
 * Entries of one transaction. Its preparation takes a core for a few milliseconds, and it holds the write lock of SQLite
 * for one: keys wait meanwhile.
 */
const TRANSACTION_LIMIT = 256;

/** Rests after a transaction that took `workedMs`, while other entries wait. */
type Rest = (workedMs: number) => Promise<void>;

interface SequencerParts {
  readonly logId: number;
  readonly store: Pick<LogStore, 'takeTurn'>;
  readonly publisher: Publisher;
  readonly judge: EntryJudge;
  readonly seals: HeadSeals;
}

interface TurnResult {
  readonly head: SignedHead;
  readonly setAside: number;
  /** True if more entries wait. */
  readonly more: boolean;
}

export class Sequencer {
  readonly #parts: SequencerParts;

  constructor(parts: SequencerParts) {
    this.#parts = parts;
  }

  /**
   * Takes one turn and publishes the stored head. Rejects with `LogStopped` if the database does not continue the
   * published tree, and with the error of the database. Calls `rest` between two transactions.
   */
  async turn(rest: Rest = async () => {}): Promise<TurnResult> {
    const { publisher } = this.#parts;
    const admitted = await publisher.admit();
    // An empty log is published before its first entry, so that the state file exists before anything can be lost.
    if (publisher.published === null) await publisher.publish();
    const { setAside, more } = await this.#takeWaiting(admitted, rest);
    return { head: await publisher.publish(), setAside, more };
  }

  /** Takes waiting entries in several transactions. Keys are recorded between them. */
  async #takeWaiting(admitted: Head, rest: Rest): Promise<Omit<TurnResult, 'head'>> {
    let setAside = 0;
    for (let taken = TRANSACTION_LIMIT; ; taken += TRANSACTION_LIMIT) {
      const startMs = performance.now();
      const some = await this.#takeSome(admitted);
      setAside += some.setAside;
      if (!some.more || taken >= TURN_LIMIT) return { setAside, more: some.more };
      await rest(performance.now() - startMs);
    }
  }

  async #takeSome(admitted: Head): Promise<TurnOutcome> {
    const { logId, store, judge, seals } = this.#parts;
    const take = () =>
      store.takeTurn({
        logId,
        limit: TRANSACTION_LIMIT,
        judge: (entry) => judge.judge(entry),
        extend: (edge, entries) => {
          judge.requireKnown();
          return seals.seal(extendAdmitted({ admitted, seals }, edge, entries));
        },
      });
    return take().catch(async (error) => {
      if (!(error instanceof UnknownVersion)) throw error;
      await judge.learn();
      return take();
    });
  }
}

/**
 * Extends the tree behind the admitted head, or a later one: other servers take turns too, and `publish` compares
 * their heads.
 */
function extendAdmitted(
  { admitted, seals }: { readonly admitted: Head; readonly seals: HeadSeals },
  edge: Edge,
  entries: readonly Uint8Array[],
): ReturnType<typeof extendTree> {
  if (edge.size < admitted.size || (edge.size === admitted.size && !isSameHead(edge, admitted))) {
    throw changedTables(`the tree has shrunk from ${admitted.size} to ${edge.size} entries`);
  }
  seals.require(edge);
  try {
    return extendTree(edge, entries);
  } catch (error) {
    if (error instanceof TreeError) throw changedTables(error.message);
    throw error;
  }
}

function changedTables(found: string): LogStopped {
  return new LogStopped(
    `the log's tables in the database were changed: ${found}. Restore the database, and run: phm log check`,
  );
}
