/** Why an assessment ended early. */
import type { RecognisedForm } from '../input/recognised-form.ts';
import type { Assessment } from './assessment.ts';

export type AssessFault =
  | 'aborted'
  | 'damaged'
  | 'empty'
  | 'too-few-bits'
  | 'too-few-sequences'
  | 'too-many-bits'
  | 'not-text'
  | 'other-form'
  | 'uneven-numbers'
  | 'unreadable'
  | 'worker'
  | 'wrong-form';

/** The particulars of a message, for callers that write their own. */
export interface AssessFigures {
  /** Bits or sequences. */
  readonly expected?: number;
  readonly got?: number;
  /** The sequence whose test failed, from 1; none if it was a long stream. */
  readonly sequence?: number;
  /** What the input looks like. */
  readonly form?: RecognisedForm;
  /** The format in which it was found, if the input itself has another form. */
  readonly within?: string;
}

/** An input that cannot be assessed, or a run that was ended. The message says what was expected and what came. */
export class AssessError extends Error {
  override readonly name = 'AssessError';
  readonly code: AssessFault;
  readonly figures: AssessFigures;
  /** The result on the finished sequences, if there are any. */
  partial: Assessment | undefined;

  constructor(code: AssessFault, message: string, figures: AssessFigures = {}, cause?: unknown) {
    super(message, { cause });
    this.code = code;
    this.figures = figures;
  }
}
