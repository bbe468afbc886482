/** The warnings of `phm assess-entropy`. The page of `phm testbench` writes them too, so this file needs no Node. */

import { grouped } from '../../../sp800-22/src/index.ts';
import { ASSESSMENT_SAMPLES } from '../../../sp800-90b/src/index.ts';
import type { RecognisedForm } from '../input/recognised-form.ts';

/** Returns the warning that samples look like another form, but are read as they are. */
export function formWarning(name: string, form: RecognisedForm, packed: boolean): string {
  const how = packed ? 'Each bit of it' : 'Each byte';
  return `warning: ${name} ${form.says}. ${how} is read as a sample, so the estimate is of that form, not of the noise in it\n`;
}

/** Returns the warning about too few samples, or `null` if there are enough. */
export function tooFewWarning(samples: number): string | null {
  if (samples >= ASSESSMENT_SAMPLES) return null;
  const wanted = grouped(ASSESSMENT_SAMPLES);
  return `warning: ${grouped(samples)} samples; SP 800-90B section 3.1.1 requires ${wanted}. With fewer, the estimates are lower and less certain
`;
}

/** §5.2.1.1: the least expected count of a bin of the chi-square test of independence. */
const LEAST_EXPECTED = 5;

/**
 * Returns the warning that there are too few samples for the chi-square test of independence, or `null`. Bins then hold
 * several pairs, and the degrees of freedom of §5.2.1 are too few by up to the number of values: the test fails sound
 * samples, or with none left passes all.
 */
export function fewPairsWarning(samples: Uint8Array): string | null {
  const values = countValues(samples);
  const needed = 2 * LEAST_EXPECTED * values ** 2;
  if (values <= 2 || samples.length >= needed) return null;
  const expected = samples.length / 2 / values ** 2;
  return `warning: ${grouped(samples.length)} samples are too few for the chi-square test of independence, whose verdict says little (SP 800-90B section 5.2.1). It expects each pair of values ${expected.toPrecision(2)} times on average, and should expect it ${LEAST_EXPECTED} times. ${grouped(values)} values need ${grouped(needed)} samples
`;
}

/** A set would take 14 times as long: seconds for the longest input (measured). */
function countValues(samples: Uint8Array): number {
  const seen = new Uint8Array(256);
  for (let i = 0; i < samples.length; i++) seen[samples[i]] = 1;
  return seen.reduce((values, flag) => values + flag, 0);
}

/** Returns a warning as a sentence, without the word before it. */
export function warningSentence(warning: string): string {
  return `${warning.trim().replace(/^warning: /, '')}.`;
}
