/** Labels of keys, as a reader types them: the rules of the service, in words. */

export interface Label {
  readonly name: string;
  readonly value: string;
}

/** Most labels of a key, or of a filter. */
export const MAX_LABELS = 16;

const LONGEST_VALUE = 64;

/** Returns the rows in which something was typed. */
export function givenLabels(rows: readonly Label[]): Label[] {
  return rows
    .map(({ name, value }) => ({ name: name.trim(), value }))
    .filter(({ name, value }) => name !== '' || value !== '');
}

/** Returns what is wrong with a label, as a sentence; undefined if nothing is. */
export function labelProblem({ name, value }: Label): string | undefined {
  if (name === '') return `The label with the value “${value}” needs a name.`;
  if (!/^[a-z0-9][a-z0-9_.-]{0,31}$/.test(name)) {
    return `“${name}” is no name of a label: use 1 to 32 of a to z, 0 to 9, “_”, “.” and “-”, beginning with a letter or digit.`;
  }
  if (value.length > LONGEST_VALUE || /[\p{Cc}\p{Cs}]/u.test(value)) {
    return `The value of “${name}” must have at most ${LONGEST_VALUE} characters, without control characters.`;
  }
  return undefined;
}

/** Returns what is wrong with all labels of one key; undefined if nothing is. */
export function labelsProblem(labels: readonly Label[]): string | undefined {
  const names = labels.map(({ name }) => name);
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined) return `The label “${twice}” is there twice.`;
  return labels.map(labelProblem).find((problem) => problem !== undefined);
}
