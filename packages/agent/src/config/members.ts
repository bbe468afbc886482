/** Reads JSON objects of a configuration, and collects all faults: the user mends them in one go. */
import { isAbsolute } from 'node:path';
import { formProblem } from '../../../platform/src/terminal/index.ts';

/** What is wrong where, such as `peers[0].thumbprint`. No fault quotes a value that could be a secret. */
export class Faults {
  readonly list: string[] = [];

  add(path: string, problem: string): void {
    this.list.push(path === '' ? problem : `${path}: ${problem}`);
  }
}

/** Names under which people put secrets into a configuration. */
const SECRET = /^(?:api_?key|private_?key|psk|password|secret|token)$/i;

/** One object with known members. What is missing or wrong is a fault, and reads as undefined. */
export class Members {
  readonly path: string;
  readonly #values: Readonly<Record<string, unknown>>;
  readonly #faults: Faults;

  constructor(faults: Faults, path: string, value: unknown, names: readonly string[]) {
    this.#faults = faults;
    this.path = path;
    this.#values = isObject(value) ? value : {};
    if (!isObject(value)) faults.add(path, 'expected a JSON object');
    for (const name of Object.keys(this.#values)) {
      if (!names.includes(name)) faults.add(this.at(name), unknownProblem(name, names));
    }
  }

  at(name: string): string {
    return this.path === '' ? name : `${this.path}.${name}`;
  }

  has(name: string): boolean {
    return this.#values[name] !== undefined;
  }

  fault(name: string, problem: string): void {
    this.#faults.add(this.at(name), problem);
  }

  /** Reads text of a form, which `wanted` describes. */
  text(name: string, wanted: string, form: RegExp): string | undefined {
    const value = this.#values[name];
    if (typeof value === 'string' && form.test(value)) return value;
    this.fault(name, value === undefined ? `is missing: ${wanted}` : `expected ${wanted}`);
    return undefined;
  }

  optionalText(name: string, wanted: string, form: RegExp): string | undefined {
    return this.has(name) ? this.text(name, wanted, form) : undefined;
  }

  /** Reads the absolute path of a file or directory: a service has no working directory that people know. */
  file(name: string): string | undefined {
    const path = this.text(name, 'an absolute path', /^.+$/s);
    if (path === undefined) return undefined;
    const problem =
      formProblem(path, 'path') ?? (isAbsolute(path) ? null : 'expected an absolute path');
    if (problem === null) return path;
    this.fault(name, problem);
    return undefined;
  }

  number(name: string, usual: number, [least, most]: readonly [number, number]): number {
    const value = this.#values[name] ?? usual;
    if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most) {
      return value;
    }
    this.fault(name, `expected a whole number from ${least} to ${most}`);
    return usual;
  }

  choice<T extends string | number>(name: string, usual: T, choices: readonly T[]): T {
    const value = this.#values[name] ?? usual;
    const found = choices.find((one) => one === value);
    if (found === undefined) this.fault(name, `expected one of ${choices.join(', ')}`);
    return found ?? usual;
  }

  object(name: string, names: readonly string[]): Members {
    return new Members(this.#faults, this.at(name), this.#values[name], names);
  }

  /** Reads a list of objects with known members. */
  objects(name: string, names: readonly string[], bounds: readonly [number, number]): Members[] {
    return this.#list(name, bounds).map(
      (one, i) => new Members(this.#faults, `${this.at(name)}[${i}]`, one, names),
    );
  }

  /** Reads a list of different texts of a form. */
  texts(name: string, wanted: string, form: RegExp, bounds: readonly [number, number]): string[] {
    const list = this.#list(name, bounds);
    const good = list.filter((one) => typeof one === 'string' && form.test(one)) as string[];
    if (good.length < list.length) this.fault(name, `expected ${wanted} in each place`);
    if (new Set(good).size < good.length) this.fault(name, 'has a name twice');
    return [...new Set(good)];
  }

  #list(name: string, [least, most]: readonly [number, number]): unknown[] {
    const value = this.#values[name] ?? [];
    if (Array.isArray(value) && value.length >= least && value.length <= most) return value;
    const count = least === most ? `${least}` : `${least} to ${most}`;
    this.fault(name, `expected a list of ${count}`);
    return [];
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function unknownProblem(name: string, names: readonly string[]): string {
  const file = names.find((one) => one.startsWith(name.toLowerCase()) && one.endsWith('_file'));
  if (SECRET.test(name)) {
    return `no secret belongs in this file${file === undefined ? '' : `: name its own file by ${file}`}`;
  }
  return `there is no such member; there are ${names.join(', ')}`;
}
