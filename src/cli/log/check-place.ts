/** Checks a log that is read from an address or a folder. */

import { join } from 'node:path';
import { CommandError } from '#platform/commands';
import { FormatError, type Policy, parseCheckpoint, parseNote } from '#tlog';
import {
  checkPublished,
  type EarlierCheckpoint,
  type TrustedCheckpoint,
  trustEarlier,
  trustNewest,
} from '../../inspection/index.ts';
import { Findings } from '../../ledger/admin.ts';
import type { CliContext } from '../context.ts';
import { LogCopy } from './copy.ts';
import { parseTrustedPolicy, readPolicyFile } from './policy-file.ts';
import { defaultSeenFile, readIfAny, readSeen, type Seen, writeSeen } from './seen.ts';
import { openSource, type PublishedLog } from './source.ts';

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

export async function checkPlace(context: CliContext, order: PlaceOrder): Promise<PlaceReport> {
  const { signal, onProgress } = order;
  const source = await openSource(order.place, signal, context);
  const note = await source.checkpoint();
  const seenFile = order.state ?? defaultSeenFile(context, originOf(source.name, note));
  const seen = readSeen(seenFile);
  const policyText = await findPolicy(order, seen, source);
  const policy = parseTrustedPolicy(`the policy of ${source.name}`, policyText);
  const trusted = trustNewest(source.name, note, policy);
  const findings = new Findings();
  const before = seen && trustEarlier(seenFile, seen.checkpoint, policy);
  const copied = order.copy === undefined ? null : copiedBefore(order.copy, policy);
  const copiedSize = copied?.trusted.checkpoint.size ?? 0;
  const copy = order.copy === undefined ? null : new LogCopy(order.copy, copiedSize, findings);
  const earlier = [before, copied].filter((one) => one !== null);
  const progress = (entries: number) => onProgress('entries', entries);
  await checkPublished({ source, trusted, earlier, findings, copy, signal, onProgress: progress });
  // A log with findings is compared with the same checkpoint again.
  if (findings.list.length === 0) {
    copy?.finish(note, policyText);
    writeSeen(seenFile, { policy: policyText, checkpoint: note });
  }
  const seenSize = before?.trusted.checkpoint.size ?? null;
  const isFirst = seen?.policy == null && order.policy === undefined;
  return { name: source.name, trusted, isFirst, seenFile, seenSize, findings };
}

/** Returns the checkpoint of the copy; null if there is none yet. */
function copiedBefore(folder: string, policy: Policy): EarlierCheckpoint | null {
  const path = join(folder, 'checkpoint');
  const note = readIfAny(path);
  return note === null ? null : trustEarlier(path, note, policy);
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
  source: PublishedLog,
): Promise<string> {
  if (policy !== undefined) return readPolicyFile(policy);
  const text = seen?.policy ?? (await source.policy());
  if (text !== null) return text;
  throw new CommandError(
    `${source.name} has no policy, so nothing says which keys sign this log: name a file with --policy`,
    1,
  );
}
