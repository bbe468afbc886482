/** Tells a caller that asks for too much from a service that has too little. */
import { AppError } from '../../errors.ts';

const OWN_REMEDY =
  'You have too many requests in progress at a time. Wait for some of their answers, and try again in {wait}.';

/** Returns the error of a request that a queue refuses. */
export function overloaded(ownShare: boolean, retryAfterSeconds: number): AppError {
  return new AppError('overloaded', {
    retryAfterSeconds,
    ownShare,
    ...(ownShare && { remedy: OWN_REMEDY }),
  });
}

/** A queue that refuses a caller, in any unit of work. */
interface RefusingQueue {
  readonly capacity: number;
  /** What callers other than the refused one hold. */
  readonly others: number;
  /** True if the queue would accept the same request of a caller that holds nothing. */
  readonly hasRoomForOthers: boolean;
}

/**
 * Returns true if a refusal is the caller's own doing: another caller would have room, or the others hold less than half of
 * the queue. It is overload of the service if several callers fill the queue. A queue without workers has no capacity.
 */
export function isOwnShare({ capacity, others, hasRoomForOthers }: RefusingQueue): boolean {
  return hasRoomForOthers || 2 * others < capacity;
}
