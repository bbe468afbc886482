/**
 * Tells one ledger from another. The address of a ledger is only a name: a restore into the wrong place, or a name that
 * leads elsewhere, puts another ledger there while servers run.
 */

/** What a process knows of its ledger. It can be sent between threads. */
export interface LedgerIdentity {
  /** Where it is stored. Parts are separated by `/`; an unknown one is `0`. */
  readonly place: string;
  /** The schema of PostgreSQL that holds it; null with SQLite. */
  readonly schema: string | null;
  /** For each registered version of the master secret its check value and time; null if they could not be read. */
  readonly secrets: Readonly<Record<string, string>> | null;
}

/** The address leads to another ledger than the one that this process works with. Nothing was read or changed. */
export class ForeignLedgerError extends Error {
  override readonly name = 'ForeignLedgerError';

  constructor(reason: string) {
    super(
      `the address leads to another ledger than before: ${reason}. Put the ledger of this server back, and it recovers by ` +
        'itself; if this is the right one, restart the server',
    );
  }
}

/** Throws `ForeignLedgerError` if `found` is not the ledger that was known. Versions of the secret may have come since. */
export function requireSameLedger(known: LedgerIdentity, found: LedgerIdentity): void {
  for (const [version, registered] of Object.entries(known.secrets ?? {})) {
    if (found.secrets === null || found.secrets[version] === registered) continue;
    const problem =
      found.secrets[version] === undefined ? 'is not registered there' : 'has another check value';
    throw new ForeignLedgerError(`version ${version} of the master secret ${problem}`);
  }
  if (!isSamePlace(known.place, found.place)) {
    throw new ForeignLedgerError(`it is stored as ${found.place}, and was as ${known.place}`);
  }
}

function isSamePlace(known: string, found: string): boolean {
  const parts = found.split('/');
  return known.split('/').every((part, i) => part === parts[i] || part === '0' || parts[i] === '0');
}

/** Returns the error that says so, if a failure has this cause. */
export function foreignLedgerIn(error: unknown): ForeignLedgerError | null {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof ForeignLedgerError) return cause;
  }
  return null;
}
