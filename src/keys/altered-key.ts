/** The defect of a key that is no longer what was generated. */

/**
 * Where it showed: the inverse of its modulation, the plaintext that goes into its seal, and the text of the answer. Metrics
 * take their labels from this list.
 */
export const ALTERED_KEY_TESTS = ['inverse', 'seal', 'answer'] as const;

type Place = (typeof ALTERED_KEY_TESTS)[number];

const DETAILS: Readonly<Record<Place, string>> = {
  inverse: 'a key whose modulation is undone is not its carrier',
  seal: 'what goes into the seal of a key is not what was committed to',
  answer: 'the text of an answer is not of the keys that were generated for it',
};

interface AlteredKey {
  readonly cause: 'altered_key';
  readonly test: Place;
  readonly detail: string;
}

/** Returns the defect, for the latch. */
export function alteredKey(test: Place): AlteredKey {
  return { cause: 'altered_key', test, detail: DETAILS[test] };
}
