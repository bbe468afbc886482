/** Failures of a PostgreSQL database that hides, drops or changes rows of the ledger. */

/** Rows of the ledger may be missing or wrong, and the database would not say so. */
export class DisturbedError extends Error {
  override readonly name = 'DisturbedError';

  constructor(problems: readonly string[]) {
    super(`rows of the ledger can be missing or wrong: ${problems.join('; ')}; see phm doctor`);
  }
}

/** The database took a row and did not keep it. */
export class DroppedError extends Error {
  override readonly name = 'DroppedError';
}
