/** Labels: what a caller calls a key. They are no secrets: the ledger and the list of keys show them. */

/** Most labels of a key. */
export const MAX_LABELS = 16;

/** Longest name and value, in characters. */
const MAX_LABEL_NAME = 32;
const MAX_LABEL_VALUE = 64;

const NAME = /^[a-z0-9][a-z0-9_.-]{0,31}$/;

/**
 * Counts code points. Without lone surrogates, which have no canonical JSON, and without control characters, also those
 * that end lines or turn the direction of a text: a list of keys on a terminal would show something else.
 */
const VALUE = new RegExp(
  `^[^\\p{Cc}\\p{Cs}\\p{Zl}\\p{Zp}\\p{Bidi_Control}]{0,${MAX_LABEL_VALUE}}$`,
  'u',
);

/** What a name must be, in words. */
export const LABEL_NAME = `1 to ${MAX_LABEL_NAME} characters of a-z, 0-9, "_", "." and "-", the first a letter or digit`;

/** What a value must be, in words. */
export const LABEL_VALUE = `at most ${MAX_LABEL_VALUE} characters without characters that control lines or the direction of text`;

export function isLabelName(text: string): boolean {
  return NAME.test(text);
}

export function isLabelValue(text: string): boolean {
  return VALUE.test(text);
}
