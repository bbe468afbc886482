/** The warning on samples that have another form. The page writes it too, so this file needs no Node. */
import type { RecognisedForm } from '../input/recognised-form.ts';

/** Returns the warning that samples look like another form, but are read as they are. */
export function formWarning(name: string, form: RecognisedForm, packed: boolean): string {
  const how = packed ? 'Each bit of it' : 'Each byte';
  return `warning: ${name} ${form.says}. ${how} is read as a sample, so the estimate is of that form, not of the noise in it\n`;
}
