/** Runs one check of `phm doctor`. */
import { KernelsError } from '#sp800-22/wasm';
import { NoiseFailure } from '../../entropy/index.ts';
import { AppError, SetupError } from '../../errors.ts';
import { type Finding, failed, Skipped, skipped, within } from './finding.ts';
import type { Site } from './site.ts';

export interface Check {
  readonly name: string;
  /** The page with more about failures of this check. */
  readonly page: string;
  /** Time limit in milliseconds, if it is not `LIMIT_MS`. */
  readonly limitMs?: number;
  /** Returns at least one finding. Throws or rejects with `Skipped`, or with the error of what it examines. */
  readonly run: (site: Site, signal: AbortSignal) => Finding[] | Promise<Finding[]>;
}

/** Time limit of a check, beyond which it fails. */
const LIMIT_MS = 15_000;

/** Returns the findings of a check. Never rejects. */
export async function runCheck(check: Check, site: Site): Promise<Finding[]> {
  try {
    const found = await within(check.limitMs ?? LIMIT_MS, check.name, (signal) =>
      check.run(site, signal),
    );
    return found.map((finding) => withPage(finding, check));
  } catch (error) {
    if (error instanceof Skipped) return [skipped(error.message)];
    return [withPage(failed(describe(error), remedyFor(error)), check)];
  }
}

/** Rights are the only reason that a check can tell without knowing what it examines. */
function remedyFor(error: unknown): string | null {
  if (error instanceof SetupError && error.lines[1] !== undefined) return error.lines[1];
  const isDenied = error instanceof Error && 'code' in error && error.code === 'EACCES';
  return isDenied ? 'run the command as the user of the server, or correct owner and mode' : null;
}

/** Adds the page to what to do, unless that names one. */
export function withPage(finding: Finding, { page }: Check): Finding {
  if (finding.status === 'ok' || finding.status === 'skipped') return finding;
  if (finding.do?.includes('docs/')) return finding;
  return { ...finding, do: finding.do === null ? `see ${page}` : `${finding.do} (${page})` };
}

/** Describes an error. The message of an unknown one may quote anything, so only its name is shown. */
function describe(error: unknown): string {
  if (error instanceof AppError) {
    const { cause, message } = error;
    return cause instanceof Error ? `${message}: ${cause.message}` : message;
  }
  if (error instanceof SetupError) return error.lines[0] ?? '';
  const isKnown =
    error instanceof KernelsError ||
    error instanceof NoiseFailure ||
    (error instanceof Error && 'syscall' in error);
  if (isKnown) return error.message;
  return `an unexpected ${error instanceof Error ? error.name : 'error'}`;
}
