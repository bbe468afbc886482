/** Query parameters. A parameter that is repeated or has a wrong value is an error that names the fix. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError, type FieldError } from '../../errors.ts';
import { describeChoice } from './field-errors.ts';
import { noteUnknownFields, refuseUnknownFields, unknownFieldErrors } from './unknown-fields.ts';

/** How to read a parameter. `read` returns undefined for a wrong value. */
export interface Parameter {
  readonly expected: string;
  readonly read: (text: string) => number | string | boolean | undefined;
  /** Most times that the parameter may be given: its values become an array. Absent: once. */
  readonly times?: number;
}

/** A whole number in decimal digits; a fraction of zeros, as in `24.0`, is accepted. */
export function wholeNumber(least: number, most: number): Parameter {
  return {
    expected: `must be a whole number from ${least} to ${most}, in decimal digits, given once`,
    read: (text) => {
      const number = /^[1-9][0-9]{0,3}(?:\.0+)?$/.test(text) ? Number(text) : 0;
      return number >= least && number <= most ? number : undefined;
    },
  };
}

/** One of a few numbers, in decimal digits; a fraction of zeros is accepted. */
export function numberOutOf(choices: readonly number[]): Parameter {
  return {
    expected: `must be one of ${choices.join(', ')}, in decimal digits, given once`,
    read: (text) => choices.find((one) => String(one) === text.replace(/\.0+$/, '')),
  };
}

export function word(only: string): Parameter {
  return {
    expected: `must be ${only}, given once`,
    read: (text) => (text === only ? text : undefined),
  };
}

export function wordOutOf(choices: readonly string[]): Parameter {
  return {
    expected: `must be one of ${choices.join(', ')}, given once`,
    read: (text) => choices.find((one) => one === text),
  };
}

/** Returns the hooks of a route with these parameters. */
export function takesQuery(parameters: Readonly<Record<string, Parameter>>) {
  return {
    preValidation: (request: FastifyRequest, _reply: FastifyReply, done: () => void): void => {
      noteUnknownFields(request, { body: [], query: Object.keys(parameters) });
      const query = request.query as Record<string, unknown>;
      const wrong = Object.entries(parameters).flatMap(([name, parameter]) =>
        readParameter(query, name, parameter),
      );
      if (wrong.length > 0) {
        throw new AppError('invalid_request', {
          fields: [...wrong, ...unknownFieldErrors(request)],
        });
      }
      done();
    },
    preHandler: refuseUnknownFields,
  };
}

/** Replaces the text of a parameter with its value. Returns the error, if there is one. */
function readParameter(
  query: Record<string, unknown>,
  name: string,
  { expected, read, times }: Parameter,
): FieldError[] {
  const given = query[name];
  if (given === undefined) return [];
  if (times !== undefined) return readRepeated(query, name, { expected, read, times });
  const value = typeof given === 'string' ? read(given) : undefined;
  if (value === undefined) return [refused(name, expected, given)];
  query[name] = value;
  return [];
}

function readRepeated(
  query: Record<string, unknown>,
  name: string,
  { expected, read, times }: Parameter & { readonly times: number },
): FieldError[] {
  const given = [query[name]].flat();
  if (given.length > times) return [refused(name, expected, given)];
  const values = given.map((one) => (typeof one === 'string' ? read(one) : undefined));
  const wrong = values.indexOf(undefined);
  if (wrong !== -1) return [refused(name, expected, given[wrong])];
  query[name] = values;
  return [];
}

function refused(name: string, expected: string, given: unknown): FieldError {
  const came = Array.isArray(given) ? `${given.length} values` : describeChoice(given);
  return { pointer: `?${name}`, message: `${expected}; got ${came}` };
}

export function refuseParameter(name: string, message: string): AppError {
  return new AppError('invalid_request', { fields: [{ pointer: `?${name}`, message }] });
}
