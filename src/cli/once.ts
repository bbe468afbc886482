/** Options that may be given once. */
import { CommandError } from '#platform/commands';

/** Returns a parser that refuses the option's second value. Without it, the last value counts. */
export function once<T>(option: string, parse: (text: string) => T) {
  return (text: string, given?: T): T => {
    if (given !== undefined) throw new CommandError(`${option} is given twice: give it once`, 2);
    return parse(text);
  };
}
