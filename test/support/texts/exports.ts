/** Reads from the text of source files what each exports, and what the others import from it. */
import { resolveImport } from './imports.ts';

const NAME = '[\\w$]+';

/** `export` before a declaration: the second group has the names taken out of an object or a list. */
const DECLARATION = new RegExp(
  '^export (?:declare |abstract |async )*(?:function\\*?|class|const|let|interface|type) ' +
    `(?:(${NAME})|[{[]([^}\\]]*)[}\\]] =)`,
  'gm',
);
const LIST = /^export (?:type )?\{([^}]*)\}/gm;
const DEFAULT = /^export default /m;

/** `import`, or `export` of what another file has: the names, and the file. */
const FROM = new RegExp(
  `\\b(?:import|export)\\s+(?:type\\s+)?(?:(${NAME})(?:,\\s*)?)?(\\{[^}]*\\}|\\*(?:\\s+as\\s+${NAME})?)?` +
    "\\s*\\bfrom\\s+'([.#][^']+)'",
  'g',
);
const WHOLE_MODULE = /\b(?:import|require)\s*\(\s*'([.#][^']+)'/g;

/** Returns the names that a file exports, without those of `export *`. */
export function exportedNames(text: string): string[] {
  const declared = [...text.matchAll(DECLARATION)].flatMap(([, name, parts]) =>
    name === undefined ? outsideNames(parts) : [name],
  );
  const listed = [...text.matchAll(LIST)].flatMap(([, parts]) => outsideNames(parts));
  return [...declared, ...listed, ...(DEFAULT.test(text) ? ['default'] : [])];
}

function outsideNames(list = ''): string[] {
  return partsOf(list).map(({ outside }) => outside);
}

/** Returns the parts of a list such as `A, type B as C`: `B` is the name inside the file, `C` the one outside. */
function partsOf(list: string): { inside: string; outside: string }[] {
  const parts = list.split(',').map((part) => part.trim().replace(/^type /, ''));
  return parts
    .filter((part) => part !== '')
    .map((part) => {
      const [inside = '', outside = inside] = part.split(/ as |: /);
      return { inside, outside };
    });
}

/** Returns the exports that no other of these files imports, each as `path: name`. */
export function unusedExports(sources: ReadonlyMap<string, string>): string[] {
  const used = new Map([...sources.keys()].map((path) => [path, new Set<string>()]));
  for (const [path, text] of sources) {
    for (const { targets, names } of namesImported(path, text)) {
      const files = targets.filter((target) => target !== path);
      for (const file of files) for (const name of names) used.get(file)?.add(name);
    }
  }
  return [...sources].flatMap(([path, text]) =>
    exportedNames(text)
      .filter((name) => !used.get(path)?.has(name) && !used.get(path)?.has('*'))
      .map((name) => `${path}: ${name}`),
  );
}

interface ImportedNames {
  readonly targets: readonly string[];
  /** `*` stands for all. */
  readonly names: readonly string[];
}

/** A file that takes a whole module, at once or later, uses each name of it that the file mentions. */
function namesImported(path: string, text: string): ImportedNames[] {
  const mentioned = [...new Set(text.match(/[\w$]+/g))];
  const named = [...text.matchAll(FROM)].map(([statement, own, list, specifier = '']) => {
    const names = own === undefined ? [] : ['default'];
    if (list?.startsWith('{')) names.push(...partsOf(list.slice(1, -1)).map((one) => one.inside));
    else if (list === '*' && statement.startsWith('export')) names.push('*');
    else if (list !== undefined) names.push(...mentioned);
    return { targets: filesOf(path, specifier), names };
  });
  const whole = [...text.matchAll(WHOLE_MODULE)].map(([, specifier = '']) => ({
    targets: filesOf(path, specifier),
    names: mentioned,
  }));
  return [...named, ...whole];
}

/** The sources of the kernels leave out the ending. */
function filesOf(from: string, specifier: string): string[] {
  const file = resolveImport(from, specifier);
  return [file, `${file}.ts`];
}
