/** Checks a log from outside: the tree that it serves, and that it contains what was seen of it before. */
import type { Policy } from '#tlog';
import { SetupError } from '../errors.ts';
import type { FindingKind, Findings } from '../ledger/admin.ts';
import type { LogSource } from './log-source.ts';
import { checkTree, type Mark, type TreeCopy } from './tree-check.ts';
import { describeCheckpoint, requireTrusted, type TrustedCheckpoint } from './trust.ts';

const WRONG_ROOT: FindingKind = {
  problem: 'the root of the entries is not that of the checkpoint',
  remedy: 'The log signed another tree than it serves. Keep the checkpoint and ask the operator.',
};
const FORK: FindingKind = {
  problem: 'the log does not contain an earlier checkpoint',
  remedy:
    'The log was rewritten or shows you another tree than before. Keep both checkpoints: each is signed by the log, ' +
    'and together they prove it.',
};
const WENT_BACK: FindingKind = {
  problem: 'the log is smaller than before',
  remedy:
    'It lost entries, for example because a backup was restored, or a cache serves an old checkpoint.',
};

/** A checkpoint that was verified before, and where it is kept. */
export interface EarlierCheckpoint {
  readonly name: string;
  readonly trusted: TrustedCheckpoint;
}

interface PublishedOrder {
  readonly source: LogSource;
  /** The newest checkpoint. */
  readonly trusted: TrustedCheckpoint;
  readonly earlier: readonly EarlierCheckpoint[];
  readonly findings: Findings;
  readonly copy: TreeCopy | null;
  readonly signal: AbortSignal;
  readonly onProgress: (entries: number) => void;
}

export async function checkPublished(order: PublishedOrder): Promise<void> {
  const { source, trusted, earlier, findings, copy, signal, onProgress } = order;
  const { checkpoint } = trusted;
  const marks = earlier.map(
    ({ name, trusted: old }): Mark => ({
      checkpoint: old.checkpoint,
      kind: FORK,
      example: `${describeCheckpoint(old.checkpoint)} in ${name}`,
    }),
  );
  for (const { checkpoint: old, example } of marks) {
    if (old.size > checkpoint.size) findings.add(WENT_BACK, example);
  }
  const own: Mark = { checkpoint, kind: WRONG_ROOT, example: describeCheckpoint(checkpoint) };
  const { size } = checkpoint;
  await checkTree({ source, size, marks: [own, ...marks], findings, signal, onProgress, copy });
}

/** Returns the newest checkpoint of a log. `place` begins messages. Throws `SetupError` on any defect. */
export function trustNewest(place: string, note: string, policy: Policy): TrustedCheckpoint {
  requireListed(place, note, policy);
  return requireTrusted(`the checkpoint of ${place}`, note, policy);
}

/** A rotation puts another log at the same address, which the policy of the first one does not list. */
function requireListed(place: string, note: string, { logs }: Policy): void {
  const [origin] = note.split('\n', 1);
  const names = [...new Set(logs.map(({ key }) => key.name))];
  if (names.length === 0 || names.some((name) => name === origin)) return;
  throw new SetupError(
    `${place} has the log ${origin}, but the policy lists ${names.join(', ')}. After a rotation, check the new log ` +
      'with its own --policy, --state and --copy',
  );
}

/** Returns a checkpoint of the log that is kept as `name`. Throws `SetupError` on any defect. */
export function trustEarlier(name: string, note: string, policy: Policy): EarlierCheckpoint {
  // Witnesses may have joined since: the log's own signature is enough here.
  return { name, trusted: requireTrusted(name, note, { ...policy, quorum: 'none' }) };
}
