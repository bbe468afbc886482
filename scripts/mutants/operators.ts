/** Small changes that make a program wrong: in TypeScript, in Python, and in files of settings. */

export interface Candidate {
  readonly file: string;
  /** What was changed, in words. */
  readonly operator: string;
  /** Place of the change in the file. */
  readonly offset: number;
  /** Occurs once in the file. */
  readonly find: string;
  readonly replace: string;
}

interface Operator {
  readonly name: string;
  /** Finds places in a line of code without comments and texts. */
  readonly pattern: RegExp;
  /** Returns what stands there instead. */
  readonly change: (found: RegExpExecArray) => string;
  /** True if the pattern is a whole line, whose texts do not matter. */
  readonly isLine?: boolean;
}

const SWAPPED: Readonly<Record<string, string>> = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '===': '!==',
  '!==': '===',
  '==': '!=',
  '!=': '==',
  '&&': '||',
  '||': '&&',
  and: 'or',
  or: 'and',
  true: 'false',
  false: 'true',
};

const swapped = ([text]: RegExpExecArray): string =>
  text.replace(/\S+/, (word) => SWAPPED[word] ?? word);

const CODE: readonly Operator[] = [
  { name: 'another bound', pattern: / (<|<=|>|>=) (?=[\w(])/g, change: swapped },
  { name: 'another comparison', pattern: / (===|!==|==|!=) /g, change: swapped },
  { name: 'and for or, or for and', pattern: / (&&|\|\||and|or) /g, change: swapped },
  { name: 'one more', pattern: / [+-] 1\b(?!\d)/g, change: ([text]) => `${text.slice(0, 3)}2` },
  {
    name: 'another number',
    pattern: /(?<=[ ([])(?:[2-9]|[1-9]\d+)(?=[ );,\]])/g,
    change: ([text]) => String(Number(text) + 1),
  },
  {
    name: 'the opposite condition',
    pattern: /(?<=^ *(?:\} else )?if )\(([^()]|\([^()]*\))+\)(?= )/g,
    change: ([text]) => `(!${text})`,
  },
  {
    name: 'a check that throws nothing',
    pattern: /^ +if \(.*\) throw .*;$/g,
    change: () => '',
    isLine: true,
  },
  {
    name: 'a call that is not made',
    pattern: /^ +(?!return|throw|await|super|if|log|print)(?:this\.)?#?[\w.#]+\(.*\);$/g,
    change: () => '',
    isLine: true,
  },
  { name: 'the opposite answer', pattern: /(?<=return )(?:true|false)(?=;)/g, change: swapped },
  {
    name: 'arguments in another order',
    pattern: /(?<=\w\()(\w+), (\w+)(?=\))/g,
    change: ([, first, second]) => `${second}, ${first}`,
  },
];

const SETTINGS: readonly Operator[] = [
  {
    name: 'a metric that is not there',
    pattern: /\bphm_\w+(?=[{[ )])/g,
    change: ([text]) => `${text}_of_none`,
  },
  { name: 'another comparison', pattern: / (==|!=|<|>|<=|>=) (?=[\w(])/g, change: swapped },
  {
    name: 'another number',
    pattern: /(?<=[ :=[(])(?:[1-9]\d*)(?=$|[ ;,)smh%\]])/g,
    change: ([text]) => String(Number(text) * 10),
  },
  {
    name: 'a setting that is not made',
    pattern: /^ *(?!\[|#|-|{|}|\/\/)[\w."-]+(?:[:=]| ).*[^{[,>|]$/g,
    change: () => '',
    isLine: true,
  },
];

/** Returns the places of a file. */
export function candidatesIn(file: string, text: string): Candidate[] {
  const isCode = /\.(tsx?|py)$/.test(file);
  const masked = isCode ? mask(text, file.endsWith('.py')) : maskSettings(text);
  const found: Candidate[] = [];
  let start = 0;
  for (const line of masked.split('\n')) {
    for (const { name, pattern, change, isLine } of isCode ? CODE : SETTINGS) {
      for (const match of line.matchAll(pattern) as Iterable<RegExpExecArray>) {
        const offset = start + match.index;
        const end = offset + match[0].length + (isLine ? 1 : 0);
        const made = change(Object.assign(match, { 0: text.slice(offset, end) }));
        const edit = unique(text, offset, end, made);
        if (edit !== null) found.push({ file, operator: name, ...edit });
      }
    }
    start += line.length + 1;
  }
  return found;
}

/** Returns the change with as many lines around it as make its text occur once. */
function unique(text: string, offset: number, end: number, made: string) {
  let from = text.lastIndexOf('\n', offset - 1) + 1;
  const to = text.indexOf('\n', end - 1) === -1 ? text.length : text.indexOf('\n', end - 1) + 1;
  for (let lines = 0; lines < 6; lines++) {
    const find = text.slice(from, to);
    if (text.split(find).length === 2) {
      const replace = text.slice(from, offset) + made + text.slice(end, to);
      // Of a line that begins with spaces, the code after them.
      const place = offset + (/^\s*/.exec(text.slice(offset, end))?.[0].length ?? 0);
      return { offset: place, find, replace };
    }
    if (from === 0) return null;
    from = text.lastIndexOf('\n', from - 2) + 1;
  }
  return null;
}

/** Texts, comments and expressions of TypeScript or Python. */
const TYPESCRIPT =
  /\/\*[\s\S]*?\*\/|\/\/.*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\[\s\S]|[^`\\])*`|(?<=[(,=:[!&|?{;] |[([!]|return )\/(?![/*])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/\w*/g;
const PYTHON = /"""[\s\S]*?"""|#.*|f?"(?:\\.|[^"\\\n])*"|f?'(?:\\.|[^'\\\n])*'/g;

/** Returns the text with spaces in the place of comments and texts. */
function mask(text: string, isPython: boolean): string {
  return text.replace(isPython ? PYTHON : TYPESCRIPT, (found) => found.replace(/[^\n]/g, ' '));
}

/** Comments, and what only people read. */
function maskSettings(text: string): string {
  const words = /^\s*(?:#|\/\/).*$|^\s*"?(?:summary|description|runbook|title)"?:.*$/gm;
  return text.replace(words, (found) => found.replace(/[^\n]/g, ' '));
}
