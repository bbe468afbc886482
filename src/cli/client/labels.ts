/** Labels of keys on the command line: `--label name=value`, repeatable. */
import { InvalidArgumentError } from 'commander';
import {
  isLabelName,
  isLabelValue,
  LABEL_NAME,
  LABEL_VALUE,
  MAX_LABELS,
} from '../../keys/terms.ts';

export type Labels = Readonly<Record<string, string>>;

/** Adds one `--label` to the earlier ones. A colon, as the API has it, stands for the equals sign: no name has either. */
export function collectLabel(text: string, earlier: Labels = {}): Labels {
  const equals = text.search(/[=:]/);
  if (equals === -1) {
    throw new InvalidArgumentError('use NAME=VALUE, such as env=prod.');
  }
  const [name, value] = [text.slice(0, equals), text.slice(equals + 1)];
  if (!isLabelName(name)) throw new InvalidArgumentError(`use a name of ${LABEL_NAME}.`);
  if (!isLabelValue(value)) throw new InvalidArgumentError(`use a value of ${LABEL_VALUE}.`);
  if (Object.hasOwn(earlier, name)) {
    throw new InvalidArgumentError(`the label ${name} is given twice: give it once.`);
  }
  if (Object.keys(earlier).length === MAX_LABELS) {
    throw new InvalidArgumentError(`a key has at most ${MAX_LABELS} labels.`);
  }
  return { ...earlier, [name]: value };
}

/** Returns labels as they are given, in the order of their names. */
export function labelsText(labels: Labels): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}=${value}`)
    .sort()
    .join(' ');
}
