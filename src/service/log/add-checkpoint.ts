/** One submission to a witness: the call `add-checkpoint` of c2sp.org/tlog-witness. */
import {
  encodeBase64,
  FormatError,
  type NoteSignature,
  parseNote,
  parseSignatureLines,
  type VerifierKey,
} from '#tlog';
import { SECOND_MS, systemClock } from '../../clock.ts';
import { sha256, verifySignature } from '../../log/index.ts';

/** Time for one request, so that a round ends before the next one begins. */
const TIME_LIMIT_MS = 4 * SECOND_MS;

/** Far more than 64 signature lines. */
const MAX_ANSWER_BYTES = 2 ** 18;

/** How far the clock of a witness may be ahead. Verifiers refuse signatures from the future, and the receipts with them. */
const CLOCK_TOLERANCE_SECONDS = 300;

/** A tree size in decimal and a newline. */
const SIZE = /^(0|[1-9][0-9]{0,15})\n$/;

export interface Submission {
  /** Address of the witness without `/add-checkpoint`. */
  readonly url: string;
  readonly key: VerifierKey;
  /** Size of the last checkpoint that the witness has cosigned; 0 if unknown. */
  readonly oldSize: number;
  /** Consistency proof from that size; empty for size 0. */
  readonly proof: readonly Uint8Array[];
  /** The checkpoint, signed by the log. */
  readonly note: string;
}

export type SubmissionResult =
  | { readonly kind: 'cosigned'; readonly signature: NoteSignature }
  /** The witness has cosigned a checkpoint of another size. */
  | { readonly kind: 'conflict'; readonly size: number }
  /** `contradicts`: the witness may have a checkpoint that contradicts this one. */
  | { readonly kind: 'failed'; readonly reason: string; readonly contradicts?: boolean };

const REFUSALS: Readonly<Record<number, string>> = {
  403: 'the witness does not accept the signature of this log: it has other keys for the origin',
  404: 'the witness does not know this log: its operator must add the origin and the verifier key',
  422: 'the witness has seen a tree that this checkpoint does not continue: the log may have forked',
};

/** Time for a checkpoint that a witness shows: the first signature of a server waits for it. */
const LOOK_LIMIT_MS = 2 * SECOND_MS;

/**
 * Returns the checkpoint of this log that a witness has cosigned ("Monitor Retrieval Mechanism"); null if it shows none,
 * which is its right. Never rejects.
 */
export async function shownCheckpoint(url: string, origin: string): Promise<string | null> {
  const hash = sha256(origin).toString('hex');
  try {
    const response = await fetch(`${url.replace(/\/+$/, '')}/${hash}/checkpoint`, {
      redirect: 'error',
      signal: AbortSignal.timeout(LOOK_LIMIT_MS),
    });
    const text = await boundedText(response);
    return response.status === 200 ? text : null;
  } catch {
    return null;
  }
}

/** Submits a checkpoint. Never rejects. */
export async function addCheckpoint(submission: Submission): Promise<SubmissionResult> {
  try {
    const response = await fetch(`${submission.url.replace(/\/+$/, '')}/add-checkpoint`, {
      method: 'POST',
      headers: {
        'Content-Type': 'text/plain; charset=utf-8',
        'Accept-Encoding': 'identity',
      },
      body: requestBody(submission),
      redirect: 'error',
      signal: AbortSignal.timeout(TIME_LIMIT_MS),
    });
    return readAnswer(response.status, await boundedText(response), submission);
  } catch (error) {
    return { kind: 'failed', reason: reasonOf(error) };
  }
}

function requestBody({
  oldSize,
  proof,
  note,
}: Pick<Submission, 'oldSize' | 'proof' | 'note'>): string {
  return `old ${oldSize}\n${proof.map((hash) => `${encodeBase64(hash)}\n`).join('')}\n${note}`;
}

/** Interprets an answer. A cosignature counts only if it verifies under the key in the policy. */
function readAnswer(
  status: number,
  body: string,
  { key, note }: Pick<Submission, 'key' | 'note'>,
  nowMs: () => number = systemClock.nowMs,
): SubmissionResult {
  if (status === 409) {
    const size = Number(SIZE.exec(body)?.[1] ?? Number.NaN);
    if (Number.isSafeInteger(size)) return { kind: 'conflict', size };
    const reason = 'the witness answered 409 without a tree size';
    return { kind: 'failed', reason, contradicts: true };
  }
  if (status !== 200) {
    const reason = REFUSALS[status] ?? `the witness answered ${status}`;
    return { kind: 'failed', reason, contradicts: status === 422 };
  }
  const parsed = parseNote(note);
  const signature = parseSignatureLines(body).find(
    ({ name, keyId }) => name === key.name && keyId === key.keyId,
  );
  if (!signature)
    return { kind: 'failed', reason: 'the answer has no signature by the key in the policy' };
  const { valid, timestamp } = verifySignature(key, parsed, signature);
  if (valid && (timestamp ?? 0) > nowMs() / SECOND_MS + CLOCK_TOLERANCE_SECONDS) {
    return { kind: 'failed', reason: 'the cosignature is from the future: the clocks differ' };
  }
  if (valid && timestamp) return { kind: 'cosigned', signature };
  return { kind: 'failed', reason: 'the cosignature is not valid under the key in the policy' };
}

async function boundedText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body ?? []) {
    length += chunk.length;
    if (length > MAX_ANSWER_BYTES) throw new FormatError('the answer of the witness is too long');
    chunks.push(chunk);
  }
  return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
}

function reasonOf(error: unknown): string {
  if (error instanceof FormatError)
    return `the answer of the witness is not usable: ${error.message}`;
  const { name, cause } = error as Error;
  if (name === 'TimeoutError')
    return `the witness did not answer within ${TIME_LIMIT_MS / SECOND_MS} s`;
  const { code } = (cause ?? error) as NodeJS.ErrnoException;
  return `the witness cannot be reached (${code ?? name})`;
}
