/** How the designer's claim and the estimates lead to the assessed entropy (SP 800-90B §3.1.3, §3.1.4). */
import type { IidRestartAssessment, RestartAward } from '../../../sp800-90b/src/index.ts';
import { figure, type InitialFigures } from './figures.ts';

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

/** Returns the claim of restart tests, which are given H_I. */
export function restartClaim(
  hSubmitter: number | undefined,
  { initialMinEntropy, minEntropyPerSymbol }: RestartAward | IidRestartAssessment,
): EntropyClaim {
  return {
    hSubmitter: hSubmitter ?? null,
    hInitial: initialMinEntropy,
    assessed: minEntropyPerSymbol,
  };
}

/** Returns the formula of §3.1.3 with its numbers. */
export function initialFormula(figures: InitialFigures, claim: EntropyClaim): string {
  const { hOriginal, hBitstring, bitsPerSymbol } = figures;
  const { hSubmitter, hInitial } = claim;
  const others = [
    ...(hBitstring === null
      ? []
      : [`${bitsPerSymbol} × H_bitstring ${figure(bitsPerSymbol * hBitstring)}`]),
    ...(hSubmitter === null ? [] : [`H_submitter ${figure(hSubmitter)}`]),
  ];
  if (others.length === 0) return `H_I = H_original = ${initialText(hInitial)}`;
  const parts = [`H_original ${figure(hOriginal)}`, ...others];
  return `H_I = min(${parts.join(', ')}) = ${initialText(hInitial)}`;
}

export function claimText(claim: EntropyClaim): string {
  const { hSubmitter, hInitial, assessed } = claim;
  const submitter = hSubmitter === null ? 'not given' : figure(hSubmitter);
  return `H_submitter ${submitter} -> H_I ${initialText(hInitial)} -> ${assessedText(claim, assessed)}`;
}

function initialText(hInitial: number | null): string {
  return hInitial === null ? 'none' : figure(hInitial);
}

function assessedText({ hInitial }: EntropyClaim, assessed: number | null | undefined): string {
  if (assessed === 0) return 'no entropy awarded, because a check failed';
  if (typeof assessed === 'number') return `assessed ${figure(assessed)} bits per symbol`;
  if (hInitial === null || assessed === null) return 'nothing assessed, because a test failed';
  const given = roundedDown(hInitial);
  if (Number(given) === 0) return 'no entropy to assess';
  return `assessed after the restart tests with --initial-entropy ${given}`;
}

/** Returns the figure that --initial-entropy takes: rounded up, it would exceed H_I and perhaps the claim. */
function roundedDown(minEntropy: number): string {
  const nearest = figure(minEntropy);
  return Number(nearest) <= minEntropy ? nearest : figure(Number(nearest) - 1e-6);
}

export function claimJson(claim: EntropyClaim | null): Record<string, unknown> {
  if (claim === null) return {};
  return {
    h_submitter: claim.hSubmitter,
    h_initial: claim.hInitial,
    assessed: claim.assessed ?? null,
  };
}
