/** Query parameters, read strictly: each is given once and says what it means, or the answer names the fix. */
import { AppError } from '../errors.ts';

/** Decimal digits, given once, as a number in range; anything else is told what is expected. */
export function parseWhole(name: string, value: unknown, least: number, most: number): number {
  const number = typeof value === 'string' && /^[1-9][0-9]{0,3}$/.test(value) ? Number(value) : 0;
  if (number >= least && number <= most) return number;
  throw refuseParameter(
    name,
    `must be a whole number from ${least} to ${most}, in decimal digits, given once`,
  );
}

/** One of a few numbers, in decimal digits, given once. */
export function parseChoice<T extends number>(
  name: string,
  value: unknown,
  choices: readonly T[],
): T {
  const choice = choices.find((one) => value === String(one));
  if (choice !== undefined) return choice;
  throw refuseParameter(
    name,
    `must be one of ${choices.join(', ')}, in decimal digits, given once`,
  );
}

export function refuseParameter(name: string, message: string): AppError {
  return new AppError('invalid_request', { fields: [{ pointer: `?${name}`, message }] });
}
