/** The last line of an assessment: from the designer's claim to the assessed entropy (SP 800-90B §3.1.3, §3.1.4). */
import { figure } from './entropy-report.ts';

/** Figures in bits per symbol; `null` if unknown or, for the last two, if a test failed. */
export interface EntropyClaim {
  readonly hSubmitter: number | null;
  /** H_I: the least of H_submitter, H_original and n · H_bitstring, or as given with --restart. */
  readonly hInitial: number | null;
  /**
   * min(H_r, H_c, H_I), 0 if the sanity check or the validation failed; null if an IID test of the restarts failed;
   * undefined before the restart tests.
   */
  readonly assessed?: number | null | undefined;
}

/** Returns H_I for an assessment of consecutive samples. */
export function initialClaim(
  hSubmitter: number | undefined,
  minEntropyPerSymbol: number | null,
): EntropyClaim {
  const hInitial =
    minEntropyPerSymbol === null ? null : Math.min(hSubmitter ?? Infinity, minEntropyPerSymbol);
  return { hSubmitter: hSubmitter ?? null, hInitial };
}

export function claimText(claim: EntropyClaim | null): string {
  if (claim === null) return '';
  const { hSubmitter, hInitial, assessed } = claim;
  const submitter = hSubmitter === null ? 'not given' : figure(hSubmitter);
  return `\nH_submitter ${submitter} -> H_I ${initialText(hInitial)} -> ${assessedText(claim, assessed)}\n`;
}

function initialText(hInitial: number | null): string {
  return hInitial === null ? 'none' : figure(hInitial);
}

function assessedText({ hInitial }: EntropyClaim, assessed: number | null | undefined): string {
  if (assessed === 0) return 'no entropy awarded, because a check failed';
  if (typeof assessed === 'number') return `assessed ${figure(assessed)} bits per symbol`;
  if (hInitial === null || assessed === null) return 'nothing assessed, because a test failed';
  return `assessed after the restart tests with --initial-entropy ${figure(hInitial)}`;
}

export function claimJson(claim: EntropyClaim | null): Record<string, unknown> {
  if (claim === null) return {};
  return {
    h_submitter: claim.hSubmitter,
    h_initial: claim.hInitial,
    assessed: claim.assessed ?? null,
  };
}
