/** Answers to systems: JSON in UTF-8. Answers with keys are built as bytes, never as text, because text cannot be wiped. */
import { Refusal, type RefusalCode } from '../keys/keeper.ts';

export interface Answer {
  readonly status: number;
  readonly body: Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A request that gets an error. The message is for the caller, and quotes only what the caller sent. */
export class RequestError extends Error {
  override readonly name = 'RequestError';
  readonly status: number;
  /** Pairs of names and values. */
  readonly details: readonly Readonly<Record<string, string>>[];
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    message: string,
    more: {
      readonly details?: readonly Readonly<Record<string, string>>[];
      readonly headers?: Readonly<Record<string, string>>;
    } = {},
  ) {
    super(message);
    this.status = status;
    this.details = more.details ?? [];
    this.headers = more.headers ?? {};
  }
}

export function badRequest(message: string, details: RequestError['details'] = []): RequestError {
  return new RequestError(400, message, { details });
}

export function jsonAnswer(value: object): Answer {
  return { status: 200, body: Buffer.from(JSON.stringify(value)) };
}

/** `message`, and `details` if there are any (ETSI GS QKD 014, clause 6.5). */
export function errorAnswer({ status, message, details, headers }: RequestError): Answer {
  const body = details.length > 0 ? { message, details } : { message };
  return { status, body: Buffer.from(JSON.stringify(body)), headers };
}

/** Returns the answer of these bytes. Wipes the parts. */
export function bytesAnswer(parts: readonly Uint8Array[]): Answer {
  const body = Buffer.concat(parts);
  for (const part of parts) part.fill(0);
  return { status: 200, body };
}

/** What an interface says when it hands out no key. */
export type Refusals = Readonly<Record<RefusalCode, readonly [status: number, message: string]>>;

/** Resolves with the answer, also to what is wrong. Rejects only for a defect. */
export async function answered(serve: () => Promise<Answer>, refusals: Refusals): Promise<Answer> {
  try {
    return await serve();
  } catch (error) {
    if (error instanceof RequestError) return errorAnswer(error);
    if (!(error instanceof Refusal)) throw error;
    const [status, message] = refusals[error.code];
    return errorAnswer(new RequestError(status, message));
  }
}
