/**
 * Values that some shell or file format should have changed before they came here: quotes, `~`, unexpanded variables.
 * Taken as they are, they would name a new folder, and a new ledger with a new master secret in it.
 */

/** What a value is. `command` is a line for a shell, which does all this itself. */
export type ValueKind = 'path' | 'command' | 'text';

const PAIRS: Readonly<Record<string, string>> = {
  '"': '"',
  "'": "'",
  '`': '`',
  '“': '”',
  '„': '“',
  '”': '”',
  '‘': '’',
  '‚': '‘',
  '’': '’',
  '«': '»',
  '‹': '›',
};

/** A quote at the beginning or the end of a part of a path. */
const QUOTED_PART = /(?:^|\/)["'`]|["'`](?:\/|$)/;

/** What other tools than a shell replace in their files: systemd, supervisord, cmd.exe, templates, and whoever reads a manual. */
const PLACEHOLDER =
  /(?:^|\/)(?:%[A-Za-z%](?=\/|$)|%\(\w+\)s|!\w+!|@\w+@(?=\/|$)|<[\w -]+>(?=\/|$))|\{\{.*\}\}/;

/** Characters that nobody sees, except those that belong to a letter or a picture beside them. */
const UNSEEN =
  /[\p{Cc}\p{Zl}\p{Zp}]|(?!\u200c|\u200d|\ufe0e|\ufe0f)[\p{Cf}\p{Default_Ignorable_Code_Point}]/u;

const QUOTES = 'quotes, which nothing has removed: write the value without them';
const WHOLE = 'write the whole path';

/** Returns what is wrong with the form of a value, and what to write; null if nothing is. It quotes no more than a name. */
export function formProblem(value: string, kind: ValueKind): string | null {
  const first = value.charAt(0);
  const isWrapped = value.length > 1 && value.endsWith(PAIRS[first] ?? '\n');
  if (kind === 'command' ? isWrapped && / /.test(value) : first in PAIRS) {
    return `is in ${QUOTES}`;
  }
  if (kind === 'command') return null;
  const [variable] = /^(?:\$\{\w+[^}]*\}|\$\w+|%\w+%)$/.exec(value) ?? [];
  if (variable !== undefined) return unexpanded(variable, 'write the value itself');
  return kind === 'path' ? pathProblem(value) : null;
}

function pathProblem(value: string): string | null {
  if (value.startsWith('~')) return `begins with "~", which only a shell expands: ${WHOLE}`;
  if (value.split('/').includes('~')) return `holds "~", which nothing has expanded: ${WHOLE}`;
  if (QUOTED_PART.test(value)) return `has ${QUOTES}`;
  // A part that begins so. A name with such a character in it is a name.
  const [, variable] = /(?:^|\/)(\$\{\w+[^}]*\}|\$\(|\$[A-Za-z_]\w*|%\w+%)/.exec(value) ?? [];
  if (variable !== undefined) return unexpanded(variable, WHOLE);
  const [placeholder] = PLACEHOLDER.exec(value) ?? [];
  if (placeholder !== undefined) {
    return `has the placeholder ${placeholder.replace('/', '')}, which nothing has replaced: ${WHOLE}`;
  }
  if (/^file:/i.test(value)) return `is an address, not a path: ${WHOLE}, without "file:"`;
  if (process.platform !== 'win32' && /^[A-Za-z]:[\\/]/.test(value)) {
    return `is a path of Windows, which this system takes for a name: ${WHOLE}`;
  }
  if (/\s#/.test(value))
    return 'holds a comment, which nothing has removed: put it on its own line';
  if (process.platform !== 'win32' && value.includes('\\')) {
    return `has a backslash, which nothing has removed, and which separates no folders here: ${WHOLE}`;
  }
  const unseen = UNSEEN.exec(value)?.[0].codePointAt(0);
  if (unseen === undefined) return null;
  const number = unseen.toString(16).toUpperCase().padStart(4, '0');
  return `holds a character that nobody sees (U+${number}): ${WHOLE}`;
}

function unexpanded(variable: string, fix: string): string {
  const [name] = /\w+/.exec(variable) ?? ['a command'];
  return `has the variable ${name}, which nothing has replaced by its value: ${fix}`;
}
