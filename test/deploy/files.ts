/** Reads the files of deploy/ as data. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseAllDocuments } from 'yaml';

export const ROOT: string = resolve(import.meta.dirname, '../..');

// biome-ignore lint/suspicious/noExplicitAny: documents of every shape are looked into.
export type Document = any;

export const readText = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

/** Returns the paths of all files below deploy/ except secrets, relative to the root. */
export function deployFiles(): string[] {
  return readdirSync(join(ROOT, 'deploy'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.endsWith('secrets'))
    .map((entry) => join(entry.parentPath, entry.name).slice(ROOT.length + 1))
    .sort();
}

/** Reads the documents of a YAML file, with aliases resolved and `<<` merged. Throws on any error or warning. */
export function readYaml(path: string): Document[] {
  const documents = parseAllDocuments(readText(path), { merge: true });
  if (!Array.isArray(documents)) throw new Error(`${path} is empty`);
  return documents.map((document) => {
    const [problem] = [...document.errors, ...document.warnings];
    if (problem) throw new Error(`${path}: ${problem.message}`);
    return document.toJS();
  });
}

export interface Instruction {
  readonly name: string;
  readonly text: string;
}

/** Reads the instructions of a Dockerfile, with continued lines joined and comments dropped. */
export function readDockerfile(path: string): Instruction[] {
  const lines = readText(path)
    .replace(/^#.*\n/gm, '')
    .replaceAll(/\\\n/g, ' ')
    .split('\n');
  return lines
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [name = '', ...words] = line.trim().split(/\s+/);
      return { name, text: words.join(' ') };
    });
}

/** Returns the first group of a pattern. Throws if the text does not match. */
export function find(text: string, pattern: RegExp): string {
  const found = pattern.exec(text)?.[1];
  if (found === undefined) throw new Error(`there is no ${pattern}`);
  return found;
}
