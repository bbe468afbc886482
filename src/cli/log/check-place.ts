/** Checks a log that is read from an address or a folder. */
import { join } from 'node:path';
import { FormatError, type Policy, parseCheckpoint, parseNote } from '#tlog';
import { type FindingKind, Findings } from '../../ledger/admin.ts';
import { CommandError } from '../command-error.ts';
import type { CliContext } from '../context.ts';
import { LogCopy } from './copy.ts';
import { defaultSeenFile, readIfAny, readSeen, type Seen, writeSeen } from './seen.ts';
import { type LogSource, openSource } from './source.ts';
import { checkTree, type Mark } from './tree-check.ts';
import {
  describeCheckpoint,
  parseTrustedPolicy,
  readPolicyFile,
  requireTrusted,
  type TrustedCheckpoint,
} from './trust.ts';

interface PlaceOrder {
  readonly place: string;
  /** A folder that gets a copy. */
  readonly copy?: string;
  /** The file of the monitor's state; undefined for the default of the log's origin. */
  readonly state?: string;
  /** A policy file, which replaces the remembered one. */
  readonly policy?: string;
  readonly signal: AbortSignal;
  readonly onProgress: (part: string, count: number) => void;
}

export interface PlaceReport {
  readonly name: string;
  readonly trusted: TrustedCheckpoint;
  /** The policy was taken from the log itself, because nothing else was known. */
  readonly isFirst: boolean;
  readonly seenFile: string;
  /** The size of the log at the last check; null before the first. */
  readonly seenSize: number | null;
  readonly findings: Findings;
}

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

export async function checkPlace(context: CliContext, order: PlaceOrder): Promise<PlaceReport> {
  const { signal, onProgress } = order;
  const source = await openSource(order.place, signal, context);
  const note = await source.checkpoint();
  const seenFile = order.state ?? defaultSeenFile(context, originOf(source.name, note));
  const seen = readSeen(seenFile);
  const policyText = await findPolicy(order, seen, source);
  const policy = parseTrustedPolicy(`the policy of ${source.name}`, policyText);
  requireListed(source.name, note, policy);
  const trusted = requireTrusted(`the checkpoint of ${source.name}`, note, policy);
  const findings = new Findings();
  const earlier = earlierCheckpoints(order, policy, seen, seenFile);
  for (const { trusted: old, example } of earlier) {
    if (old.checkpoint.size > trusted.checkpoint.size) findings.add(WENT_BACK, example);
  }
  const copied = earlier.find(({ isSeen }) => !isSeen)?.trusted.checkpoint.size ?? 0;
  const copy = order.copy === undefined ? null : new LogCopy(order.copy, copied, findings);
  await checkTree({
    source,
    size: trusted.checkpoint.size,
    marks: [
      {
        checkpoint: trusted.checkpoint,
        kind: WRONG_ROOT,
        example: describeCheckpoint(trusted.checkpoint),
      },
      ...earlier.map(
        ({ trusted: { checkpoint }, example }): Mark => ({ checkpoint, kind: FORK, example }),
      ),
    ],
    findings,
    signal,
    onProgress: (entries) => onProgress('entries', entries),
    copy,
  });
  // A log with findings is compared with the same checkpoint again.
  if (findings.list.length === 0) {
    copy?.finish(note, policyText);
    writeSeen(seenFile, { policy: policyText, checkpoint: note });
  }
  const seenSize = earlier.find(({ isSeen }) => isSeen)?.trusted.checkpoint.size ?? null;
  const isFirst = seen?.policy == null && order.policy === undefined;
  return { name: source.name, trusted, isFirst, seenFile, seenSize, findings };
}

/** A rotation puts another log at the same address, which the policy of the first one does not list. */
function requireListed(place: string, note: string, { logs }: Policy): void {
  const [origin] = note.split('\n', 1);
  const names = [...new Set(logs.map(({ key }) => key.name))];
  if (names.length === 0 || names.some((name) => name === origin)) return;
  throw new CommandError(
    `${place} has the log ${origin}, but the policy lists ${names.join(', ')}. After a rotation, check the new log ` +
      'with its own --policy, --state and --copy',
    1,
  );
}

/** Returns the origin that a note claims, before anything is verified. */
function originOf(name: string, note: string): string {
  try {
    return parseCheckpoint(parseNote(note).text).origin;
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    throw new CommandError(`${name}/checkpoint is not a signed checkpoint: ${error.message}`, 1);
  }
}

async function findPolicy(
  { policy }: PlaceOrder,
  seen: Seen | null,
  source: LogSource,
): Promise<string> {
  if (policy !== undefined) return readPolicyFile(policy);
  const text = seen?.policy ?? (await source.policy());
  if (text !== null) return text;
  throw new CommandError(
    `${source.name} has no policy, so nothing says which keys sign this log: name a file with --policy`,
    1,
  );
}

/** A checkpoint that was verified before, and its name in findings. */
interface Earlier {
  readonly trusted: TrustedCheckpoint;
  readonly example: string;
  /** True for the monitor's own, false for that of the copy. */
  readonly isSeen: boolean;
}

function earlierCheckpoints(
  { copy }: PlaceOrder,
  policy: Policy,
  seen: Seen | null,
  seenFile: string,
): Earlier[] {
  const earlier: Earlier[] = [];
  const add = (note: string, name: string, isSeen: boolean): void => {
    // Witnesses may have joined since: the log's own signature is enough here.
    const trusted = requireTrusted(name, note, { ...policy, quorum: 'none' });
    earlier.push({
      trusted,
      example: `${describeCheckpoint(trusted.checkpoint)} in ${name}`,
      isSeen,
    });
  };
  if (seen !== null) add(seen.checkpoint, seenFile, true);
  const copied = copy === undefined ? null : readIfAny(join(copy, 'checkpoint'));
  if (copied !== null && copy !== undefined) add(copied, join(copy, 'checkpoint'), false);
  return earlier;
}
