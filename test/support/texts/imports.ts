/** Reads the imports of this project's source files from their text. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

export const ROOT: string = resolve(import.meta.dirname, '../../..');

const IMPORTS: Readonly<Record<string, string | { readonly default: string }>> = JSON.parse(
  readFileSync(join(ROOT, 'package.json'), 'utf8'),
).imports;

/** The file behind each subpath import of package.json, without the conditions of a runtime. */
export const DOORS: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(IMPORTS).map(([name, file]) => [
    name,
    typeof file === 'string' ? file : file.default,
  ]),
);

interface Import {
  /** The specifier as written. */
  readonly specifier: string;
  /** Absolute path of the file. */
  readonly target: string;
  readonly typesOnly: boolean;
}

/** Returns the text of each TypeScript file below a folder of the project, by absolute path. */
export function readSources(folder: string): Map<string, string> {
  const top = join(ROOT, folder);
  const paths = readdirSync(top, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.tsx?$/.test(path) && !path.includes('node_modules'))
    .map((path) => join(top, path));
  return new Map(paths.map((path) => [path, readFileSync(path, 'utf8')]));
}

/** Returns the project files that a file imports, including by `import()`. */
export function importsOf(path: string, text: string): Import[] {
  const statements = text.matchAll(
    /^(?:import|export)\s+(type\s)?([^;']*?)\sfrom\s+'([.#][^']+)'|\bimport\s*\(?'([.#][^']+)'/gm,
  );
  return [...statements].map(([, type, names, fixed, loaded]) => {
    const specifier = fixed ?? loaded ?? '';
    const typesOnly = type !== undefined || everyNameIsType(names ?? '');
    return { specifier, target: resolveImport(path, specifier), typesOnly };
  });
}

export function resolveImport(from: string, specifier: string): string {
  const door = DOORS[specifier];
  return door ? join(ROOT, door) : resolve(dirname(from), specifier);
}

/** Reports whether a list of imported names, such as `{ type A, type B }`, has only types. */
export function everyNameIsType(names: string): boolean {
  const list = /^\{([^}]*)\}$/.exec(names.trim())?.[1];
  const parts = list?.split(',').map((part) => part.trim()) ?? [];
  const named = parts.filter((part) => part !== '');
  return named.length > 0 && named.every((part) => part.startsWith('type '));
}

/**
 * Returns the import cycles among these files, including cycles of types. Each lists the files from one back to
 * itself.
 */
export function importCycles(sources: ReadonlyMap<string, string>): string[][] {
  const cycles: string[][] = [];
  const done = new Set<string>();
  const way: string[] = [];
  const visit = (file: string): void => {
    const start = way.indexOf(file);
    if (start !== -1) cycles.push([...way.slice(start), file]);
    if (start !== -1 || done.has(file)) return;
    way.push(file);
    for (const { target } of importsOf(file, sources.get(file) ?? '')) visit(target);
    way.pop();
    done.add(file);
  };
  for (const file of sources.keys()) visit(file);
  return cycles;
}
