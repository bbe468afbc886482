/**
 * Batches and replies as they travel between the main thread and the key worker.
 *
 * Nearly all of the load are plain keys, so their tasks and results travel as columns: numbers in one array, texts in
 * lists, and all key bytes in one transferred buffer (`packed-bytes.ts`). A message of objects repeats the name of
 * each property (bench/messages.ts). Other tasks and results are few, and travel as they are.
 */
import type { ReleasedKey } from '../../keys/order.ts';
import type {
  KeyBatch,
  KeyBatchReply,
  KeyTask,
  KeyTaskResult,
  PackedBatch,
  PackedReply,
  PlainKeyGenerated,
  TaskForm,
} from './messages.ts';
import { ByteReader, ByteWriter, type Secrets, secretBytes } from './packed-bytes.ts';

/** Numbers of one task: index of its form, `atMs`, `acceptedMs`. */
const TASK_COLUMNS = 3;

/** Stands for a form if the task is the next one of `others`. */
const OTHER = -1;

/**
 * Numbers of one result: lengths of its key and opening in bytes (0 for none), `createdMs`, `securityStrengthBits`,
 * `entropyBits`, `latencyMs`, of the usage `month`, `used` and `quota` (infinity for none), and `failures`. If the key has
 * no bytes, the result is the next one of `others`.
 */
const RESULT_COLUMNS = 10;

type GenerateTask = KeyTask & { readonly kind: 'generate' };

/** A result that fits into the columns. */
type PlainResult = PlainKeyGenerated & { readonly keys: readonly [ReleasedKey] };

/** Packs a batch for `postMessage`. The caller transfers the keys of `others`. */
export function packBatch({ id, tasks, failures }: KeyBatch): PackedBatch {
  const forms: TaskForm[] = [];
  const indexes = new Map<string, number>();
  const columns = new Float64Array(TASK_COLUMNS * tasks.length);
  const others: KeyTask[] = [];
  let at = 0;
  for (const task of tasks) {
    if (isPlainTask(task)) {
      const name = formName(task);
      let index = indexes.get(name);
      if (index === undefined) {
        index = forms.push(task) - 1;
        indexes.set(name, index);
      }
      columns[at] = index;
      columns[at + 1] = task.requester.atMs;
      columns[at + 2] = task.order.acceptedMs;
    } else {
      columns[at] = OTHER;
      others.push(task);
    }
    at += TASK_COLUMNS;
  }
  return { id, forms, columns, others, failures };
}

export function unpackBatch({ id, forms, columns, others, failures }: PackedBatch): KeyBatch {
  const tasks: KeyTask[] = [];
  let other = 0;
  for (let at = 0; at < columns.length; at += TASK_COLUMNS) {
    if (columns[at] === OTHER) tasks.push(others[other++]);
    else tasks.push(generateTask(forms[columns[at]], columns[at + 1], columns[at + 2]));
  }
  return { id, tasks, failures };
}

/** Reports whether a task fits into the columns. */
function isPlainTask(task: KeyTask): task is GenerateTask {
  return (
    task.kind === 'generate' &&
    task.idempotency === null &&
    task.requester.apiKeyLimit === undefined
  );
}

/** Names the fields of a form; each field MUST be in it. No part but the last holds the separator. */
function formName({ requester, order }: GenerateTask): string {
  const { securityLevel, modulation, source, withEvidence, report, receipt, labels } = order;
  const flags = `${withEvidence} ${report} ${receipt} ${order.expiresMs}`;
  return `${requester.accountId} ${requester.apiKeyId} ${securityLevel} ${modulation} ${source} ${flags} ${labels}`;
}

/** Builds a task. Fields by name: spread of so many fields costs a microsecond. */
function generateTask(
  { requester, order }: TaskForm,
  atMs: number,
  acceptedMs: number,
): GenerateTask {
  return {
    kind: 'generate',
    requester: { accountId: requester.accountId, apiKeyId: requester.apiKeyId, atMs },
    order: {
      securityLevel: order.securityLevel,
      modulation: order.modulation,
      source: order.source,
      withEvidence: order.withEvidence,
      report: order.report,
      receipt: order.receipt,
      labels: order.labels,
      expiresMs: order.expiresMs,
      acceptedMs,
    },
    idempotency: null,
  };
}

/**
 * Packs a reply for `postMessage` with `transferOf`. Moves the keys of plain results to the packed reply, and wipes the
 * given bytes.
 */
export function packReply({ results, ...rest }: KeyBatchReply): PackedReply {
  const columns = new Float64Array(RESULT_COLUMNS * results.length);
  const keyIds: string[] = [];
  const hashProofs: string[] = [];
  const others: KeyTaskResult[] = [];
  const secrets = new ByteWriter(plainBytes(results));
  results.forEach((result, i) => {
    if (!isPlain(result)) {
      others.push(result);
      return;
    }
    const [one] = result.keys;
    writeNumbers(columns, RESULT_COLUMNS * i, result, one);
    keyIds.push(one.keyId);
    hashProofs.push(one.hashProof);
    secrets.move(one);
  });
  return { ...rest, columns, keyIds, hashProofs, secrets: secrets.buffer, others };
}

/** Unpacks a reply. Its keys are views of one buffer; the receiver MUST pass each to `wipeKey`. */
export function unpackReply(packed: PackedReply): KeyBatchReply {
  const { columns, keyIds, hashProofs, secrets: bytes, others, ...rest } = packed;
  const results: KeyTaskResult[] = [];
  const reader = new ByteReader(bytes);
  let plain = 0;
  for (let at = 0; at < columns.length; at += RESULT_COLUMNS) {
    const keyBytes = columns[at];
    if (keyBytes === 0) {
      results.push(others[results.length - plain]);
      continue;
    }
    const secrets = reader.takeSecrets(keyBytes, columns[at + 1]);
    const texts = { keyId: keyIds[plain], hashProof: hashProofs[plain] };
    plain += 1;
    results.push(plainResult(columns, at, secrets, texts));
  }
  return { ...rest, results };
}

/** Returns the buffers that `postMessage` transfers with a packed reply. */
export function transferOf({ secrets, others }: PackedReply): ArrayBuffer[] {
  const buffers = [secrets];
  for (const other of others) {
    if (other.kind !== 'generated') continue;
    for (const one of other.keys) buffers.push(...secretBuffers(one));
  }
  return buffers;
}

/** Returns the buffers of a key and its opening. */
function secretBuffers({ key, opening }: ReleasedKey): ArrayBuffer[] {
  return [key, ...(opening ? [opening] : [])].map(({ buffer }) => buffer as ArrayBuffer);
}

/** Reports whether a result is a key without fields that only some keys have. */
function isPlain(result: KeyTaskResult): result is PlainResult {
  if (result.kind !== 'generated' || result.keys.length !== 1) return false;
  if (result.usage.counterId !== undefined) return false;
  const [{ evidence, report, entropyJobId }] = result.keys;
  return evidence === null && report === null && entropyJobId === null;
}

/** Returns the length of the keys and openings of all plain results. */
function plainBytes(results: readonly KeyTaskResult[]): number {
  let sum = 0;
  for (const result of results) if (isPlain(result)) sum += secretBytes(result.keys[0]);
  return sum;
}

function writeNumbers(
  columns: Float64Array,
  at: number,
  { createdMs, usage, failures }: PlainResult,
  one: ReleasedKey,
): void {
  columns[at] = one.key.length;
  columns[at + 1] = one.opening?.length ?? 0;
  columns[at + 2] = createdMs;
  columns[at + 3] = one.securityStrengthBits;
  columns[at + 4] = one.entropyBits;
  columns[at + 5] = one.latencyMs;
  columns[at + 6] = usage.month;
  columns[at + 7] = usage.used;
  columns[at + 8] = usage.quota ?? Number.POSITIVE_INFINITY;
  columns[at + 9] = failures;
}

function plainResult(
  columns: Float64Array,
  at: number,
  { key, opening, answerDigest }: Secrets,
  { keyId, hashProof }: Pick<ReleasedKey, 'keyId' | 'hashProof'>,
): PlainResult {
  const quota = columns[at + 8];
  return {
    kind: 'generated',
    createdMs: columns[at + 2],
    keys: [
      {
        keyId,
        securityStrengthBits: columns[at + 3],
        entropyBits: columns[at + 4],
        entropyJobId: null,
        evidence: null,
        report: null,
        latencyMs: columns[at + 5],
        key,
        opening,
        hashProof,
        answerDigest,
      },
    ],
    usage: {
      month: columns[at + 6],
      used: columns[at + 7],
      quota: quota === Number.POSITIVE_INFINITY ? null : quota,
    },
    failures: columns[at + 9],
  };
}
