/** Reads single variables and adds what is invalid to a list of problems. */

import { isIPv4 } from 'node:net';
import { resolve } from 'node:path';
import { fileProblem, readFailure, readTextFile } from '#platform/files';
import { formProblem } from '#platform/terminal';
import { type ChoiceOf, VARIABLES, type Variable, type VariableWith } from './environment.ts';
import type { Row } from './setting.ts';

/** A credential, or the path of the file that holds it. */
export type Credential = { readonly text: string } | { readonly file: string };

/** True if only this machine can reach the address. Accepts `[::1]` and `::1`. */
export function isLoopback(host: string): boolean {
  const name = host.toLowerCase().replace(/^\[|\]$/g, '');
  return name === 'localhost' || name === '::1' || (isIPv4(name) && name.startsWith('127.'));
}

/** True for https:, or http: to this machine, without credentials, query or fragment. */
export function isServiceUrl(text: string): boolean {
  const url = URL.parse(text);
  if (!url || url.username || url.password || /[?#]/.test(text)) return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname));
}

export class Reader {
  readonly #env: Readonly<Record<string, string | undefined>>;
  readonly problems: string[];

  constructor(env: Readonly<Record<string, string | undefined>>, problems: string[]) {
    this.#env = env;
    this.problems = problems;
  }

  /** A value in a wrong form is a problem, and counts as not set. */
  text(name: Variable): string {
    const { default: byDefault, kind = 'text' }: Row = VARIABLES[name];
    const text = this.#env[name]?.trim() ?? '';
    const problem = formProblem(text, kind);
    if (problem === null) return text || byDefault;
    const message = `${name} ${problem}`;
    if (!this.problems.includes(message)) this.problems.push(message);
    return byDefault;
  }

  /** Reads a whole number within the bounds of the variable's row. */
  integer(name: VariableWith<'bounds'>): number {
    const [min, max] = VARIABLES[name].bounds;
    const text = this.text(name);
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= min && value <= max) return value;
    this.problems.push(`${name} is "${printable(text)}": use a whole number from ${min} to ${max}`);
    return min;
  }

  /** Reads one of the values that the variable's row allows. */
  choice<Name extends VariableWith<'choices'>>(name: Name): ChoiceOf<Name> {
    return this.oneOf<ChoiceOf<Name>>(name, VARIABLES[name].choices);
  }

  oneOf<T extends string>(name: Variable, allowed: readonly T[]): T {
    const text = this.text(name);
    const value = allowed.find((one) => one === text);
    if (value !== undefined) return value;
    this.problems.push(`${name} is "${printable(text)}": use one of ${allowed.join(', ')}`);
    return allowed[0] as T;
  }

  /** Reads a comma-separated list and removes repetitions. */
  list(name: Variable, allowed: readonly string[]): string[] {
    const named = this.text(name).split(',');
    const names = named.map((one) => one.trim()).filter((one) => one !== '');
    for (const one of names) {
      if (!allowed.includes(one)) {
        this.problems.push(
          `${name} contains "${printable(one)}": use a comma-separated list of ${allowed.join(', ')}`,
        );
      }
    }
    return [...new Set(names)];
  }

  /** Reads the address of a service that gets a credential: https:, or http: to this machine. */
  url(name: Variable): string | null {
    const text = this.text(name);
    if (!text) return null;
    if (!isServiceUrl(text)) {
      this.problems.push(
        `${name} is not a usable address: write https://host/path (http: only for a loopback host), without user, query or fragment`,
      );
    }
    return text;
  }

  credential(name: Variable, fileName: Variable): Credential | null {
    const text = this.text(name);
    const file = this.text(fileName);
    if (text && file) this.problems.push(`${name} and ${fileName} are both set: keep one of them`);
    if (text) return { text };
    if (!file) return null;
    this.requireOwn(fileName);
    return { file: resolve(file) };
  }

  /** Adds a problem if another user owns the file that a variable names, or may change it. */
  requireOwn(name: Variable): void {
    const problem = fileProblem(resolve(this.text(name)));
    if (problem !== null) this.problems.push(`${name}: ${problem}`);
  }

  /** Reads and trims the file that a variable names; null if it cannot be read. */
  fileText(name: Variable): string | null {
    const path = resolve(this.text(name));
    try {
      return readTextFile(path).trim();
    } catch (error) {
      this.problems.push(`${name}: ${path} cannot be read: ${readFailure(error)}`);
      return null;
    }
  }

  /** Reads `on` or `off`. Any other value counts as off, so that it causes no second problem. */
  flag(name: VariableWith<'choices'>): boolean {
    this.choice(name);
    return this.text(name) === 'on';
  }
}

export function printable(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, '?').slice(0, 60);
}
