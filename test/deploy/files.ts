/** The files of deploy/ as data. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseAllDocuments } from 'yaml';

export const ROOT: string = resolve(import.meta.dirname, '../..');

// biome-ignore lint/suspicious/noExplicitAny: documents of every shape are looked into.
export type Document = any;

export const readText = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

/** Every file below deploy/ that the repository could hold, by its path from the root. */
export function deployFiles(): string[] {
  return readdirSync(join(ROOT, 'deploy'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.endsWith('secrets'))
    .map((entry) => join(entry.parentPath, entry.name).slice(ROOT.length + 1))
    .sort();
}

/** The documents of a YAML file, aliases resolved and `<<` merged. Throws on any error or warning. */
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

/** The instructions of a Dockerfile, continued lines joined, comments dropped. */
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

/** The first group of a pattern that has to be in a text. */
export function find(text: string, pattern: RegExp): string {
  const found = pattern.exec(text)?.[1];
  if (found === undefined) throw new Error(`there is no ${pattern}`);
  return found;
}
