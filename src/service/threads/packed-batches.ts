/**
 * Batches and replies as they travel between the main thread and the key worker.
 *
 * Nearly all of the load are plain keys, so the numbers of their tasks and results travel in one array, and their keys as
 * those of a suite worker (`packed-keys.ts`). A message of objects repeats the name of each property
 * (bench/messages.ts). Other tasks and results are few, and travel as they are.
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
import { packKeys, unpackKeys } from './packed-keys.ts';

/** Numbers of one task: index of its form, `atMs`, `acceptedMs`. */
const TASK_COLUMNS = 3;

/** Stands for a form if the task is the next one of `others`. */
const OTHER = -1;

/**
 * Numbers of one result: count of its keys, `createdMs`, of the usage `month`, `used` and `quota` (infinity for none), and
 * `failures`. Without keys, the result is the next one of `others`.
 */
const RESULT_COLUMNS = 6;

type GenerateTask = KeyTask & { readonly kind: 'generate' };

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

function generateTask(
  { requester, order }: TaskForm,
  atMs: number,
  acceptedMs: number,
): GenerateTask {
  return {
    kind: 'generate',
    requester: { ...requester, atMs },
    order: { ...order, acceptedMs },
    idempotency: null,
  };
}

/** Packs a reply for `postMessage`, which transfers `keys.secrets`. Moves the keys there, and wipes the given bytes. */
export function packReply({ results, ...rest }: KeyBatchReply): PackedReply {
  const columns = new Float64Array(RESULT_COLUMNS * results.length);
  const keys: ReleasedKey[] = [];
  const counterIds: (string | undefined)[] = [];
  const others: KeyTaskResult[] = [];
  results.forEach((result, i) => {
    if (result.kind !== 'generated') {
      others.push(result);
      return;
    }
    writeNumbers(columns, RESULT_COLUMNS * i, result);
    keys.push(...result.keys);
    counterIds.push(result.usage.counterId);
  });
  return { ...rest, columns, keys: packKeys(keys), counterIds, others };
}

/** Unpacks a reply. Its keys are views of one buffer; the receiver MUST pass each to `wipeKey`. */
export function unpackReply({
  columns,
  keys,
  counterIds,
  others,
  ...rest
}: PackedReply): KeyBatchReply {
  const results: KeyTaskResult[] = [];
  const released = unpackKeys(keys);
  let [key, generated] = [0, 0];
  for (let at = 0; at < columns.length; at += RESULT_COLUMNS) {
    const count = columns[at];
    if (count === 0) {
      results.push(others[results.length - generated]);
      continue;
    }
    const those = released.slice(key, key + count);
    results.push(generatedResult(columns, at, those, counterIds[generated]));
    key += count;
    generated += 1;
  }
  return { ...rest, results };
}

function writeNumbers(
  columns: Float64Array,
  at: number,
  { keys, createdMs, usage, failures }: PlainKeyGenerated,
): void {
  // 0 stands for a result of another kind.
  if (keys.length === 0) throw new TypeError('"result" expected a key, got none');
  columns[at] = keys.length;
  columns[at + 1] = createdMs;
  columns[at + 2] = usage.month;
  columns[at + 3] = usage.used;
  columns[at + 4] = usage.quota ?? Number.POSITIVE_INFINITY;
  columns[at + 5] = failures;
}

function generatedResult(
  columns: Float64Array,
  at: number,
  keys: readonly ReleasedKey[],
  counterId: string | undefined,
): PlainKeyGenerated {
  const quota = columns[at + 4];
  return {
    kind: 'generated',
    createdMs: columns[at + 1],
    keys,
    usage: {
      month: columns[at + 2],
      used: columns[at + 3],
      quota: quota === Number.POSITIVE_INFINITY ? null : quota,
      ...(counterId !== undefined && { counterId }),
    },
    failures: columns[at + 5],
  };
}
