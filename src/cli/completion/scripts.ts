/**
 * Completion scripts. All work alike: the words before the cursor select a command. After an option with a
 * value the script offers its choices or files, otherwise the words and options of the command.
 */
import type { CompletedCommand, Word } from './words.ts';

type Commands = readonly CompletedCommand[];

const HEADER = '# Written by "phm completion": do not edit.\n';

/** Returns the name of a command in the scripts: every word after a space. */
const place = ({ path }: CompletedCommand): string => path.map((word) => ` ${word}`).join('');

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

function wordsOf({ subcommands, flags, options, choices }: CompletedCommand): Word[] {
  return [...subcommands, ...choices.map((word) => ({ word, help: '' })), ...flags, ...options];
}

/** Returns `case` patterns for "command:option", separated by options with choices and with free values. */
function valueCases(commands: Commands): {
  choices: [string, readonly string[]][];
  free: string[];
} {
  const choices: [string, readonly string[]][] = [];
  const free: string[] = [];
  for (const command of commands) {
    for (const option of command.options) {
      const pattern = quoted(`${place(command)}:${option.word}`);
      if (option.choices) choices.push([pattern, option.choices]);
      else free.push(pattern);
    }
  }
  return { choices, free };
}

function pathPattern(commands: Commands): string {
  return commands
    .filter(({ path }) => path.length > 0)
    .map((command) => quoted(place(command)))
    .join(' | ');
}

export function bashScript(commands: Commands): string {
  const { choices, free } = valueCases(commands);
  const values = choices.map(
    ([pattern, words]) =>
      `    ${pattern}) COMPREPLY=($(compgen -W ${quoted(words.join(' '))} -- "$cur")); return ;;`,
  );
  const offers = commands.map((command) => {
    const words = wordsOf(command).map(({ word }) => word);
    return `    ${quoted(place(command))}) words=${quoted(words.join(' '))} ;;`;
  });
  return `${HEADER}
_phm() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD - 1]} at='' words='' i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$at \${COMP_WORDS[i]}" in
      ${pathPattern(commands)}) at="$at \${COMP_WORDS[i]}" ;;
    esac
  done
  case "$at:$prev" in
${values.join('\n')}
    ${free.join(' | ')}) return ;;
  esac
  case "$at" in
${offers.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o default -F _phm phm
`;
}

export function zshScript(commands: Commands): string {
  const { choices, free } = valueCases(commands);
  const values = choices.map(
    ([pattern, words]) => `    (${pattern}) compadd -- ${words.join(' ')}; return ;;`,
  );
  const described = ({ word, help }: Word): string =>
    quoted(help === '' ? word : `${word}:${help.replaceAll(':', '\\:')}`);
  const offers = commands.map((command) => {
    const files = command.takesFiles ? ' files=yes' : '';
    const words = wordsOf(command).map(described);
    return `    (${quoted(place(command))}) offers=(${words.join(' ')})${files} ;;`;
  });
  return `#compdef phm
${HEADER}
_phm() {
  local at='' files=no i
  local -a offers
  for ((i = 2; i < CURRENT; i++)); do
    case "$at $words[i]" in
      (${pathPattern(commands)}) at="$at $words[i]" ;;
    esac
  done
  case "$at:$words[CURRENT-1]" in
${values.join('\n')}
    (${free.join(' | ')}) _files; return ;;
  esac
  case "$at" in
${offers.join('\n')}
  esac
  _describe phm offers
  [[ $files = no ]] || _files
}
if [[ $funcstack[1] = _phm ]]; then _phm "$@"; else compdef _phm phm; fi
`;
}

export function fishScript(commands: Commands): string {
  const lines = commands.flatMap((command) => {
    const here = `complete -c phm -n ${quoted(`__phm_at ${quoted(place(command))}`)}`;
    const words = command.subcommands.map(
      ({ word, help }) => `${here} -f -a ${word} -d ${fishQuoted(help)}`,
    );
    const choices = command.choices.map((word) => `${here} -f -a ${word}`);
    const flags = command.flags.map(
      ({ word, help }) => `${here} -l ${word.slice(2)} -d ${fishQuoted(help)}`,
    );
    const options = command.options.map(({ word, help, choices: values }) => {
      const value = values ? `-x -a ${fishQuoted(values.join(' '))}` : '-r';
      return `${here} -l ${word.slice(2)} ${value} -d ${fishQuoted(help)}`;
    });
    const files = command.takesFiles ? [] : [`${here} -f`];
    return [...files, ...words, ...choices, ...flags, ...options];
  });
  const places = commands
    .filter(({ path }) => path.length > 0)
    .map((one) => fishQuoted(place(one)));
  return `${HEADER}
function __phm_at
    set -l at ''
    for word in (commandline -opc)[2..-1]
        if contains -- "$at $word" ${places.join(' ')}
            set at "$at $word"
        end
    end
    test "$at" = "$argv[1]"
end
${lines.join('\n')}
`;
}

const fishQuoted = (text: string): string =>
  `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
