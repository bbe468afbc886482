/** Finds the commands in shell text: one for each program that the text starts. */

/** Splits shell text into simple commands, each as its words without quotes. Comments are dropped. */
export function shellCommands(text: string): string[][] {
  const commands: string[][] = [];
  let words: string[] = [];
  let word: string | undefined;
  const endWord = () => {
    if (word !== undefined) words.push(word);
    word = undefined;
  };
  const endCommand = () => {
    endWord();
    if (words.length > 0) commands.push(words);
    words = [];
  };
  const tokens = withoutHereDocuments(text).matchAll(TOKEN);
  for (const [token] of tokens) {
    if (/^(?:\\\n|[ \t]+)$/.test(token)) endWord();
    else if (/^[\n;|&()`]+$|^\$\($/.test(token)) endCommand();
    else if (token.startsWith('#') && word === undefined) continue;
    else word = (word ?? '') + unquoted(token);
  }
  endCommand();
  return commands.map(withoutPrefix).filter((command) => command.length > 0);
}

/** An escaped line end, blanks, an end of a command, a comment, quoted text, or other text. */
const TOKEN =
  /\\\n|[ \t]+|\$\(|[\n;|&()`]+|(?<![^\s])#[^\n]*|'[^']*'|"(?:\\[\s\S]|[^"\\])*"|\\[\s\S]|[^\s;|&()`'"\\$#]+|[\s\S]/g;

function unquoted(token: string): string {
  return /^(['"])[\s\S]*\1$/.test(token) ? token.slice(1, -1) : token.replace(/^\\/, '');
}

function withoutHereDocuments(text: string): string {
  return text.replace(/(<<-?\s*(['"]?)(\w+)\2[^\n]*)\n[\s\S]*?^\s*\3$/gm, '$1');
}

/** Drops redirections, assignments, shell words and programs that start another program. */
function withoutPrefix(words: string[]): string[] {
  const kept = words.filter(
    (word, place) => !/^\d*[<>]/.test(word) && !/^\d*[<>]{1,2}$/.test(words[place - 1] ?? ''),
  );
  while (/^\w+=|^(?:do|then|else|if|while|until|exec|time|sudo|env|!|\{)$/.test(kept[0] ?? '')) {
    const withUserOrName = /^(?:sudo|env)$/.test(kept[0] ?? '') && kept[1] === '-u';
    kept.splice(0, withUserOrName ? 3 : 1);
  }
  return /^(?:done|fi|\}|for|export|cd|set|trap|read|umask|unset|exit)$/.test(kept[0] ?? '')
    ? []
    : kept;
}
