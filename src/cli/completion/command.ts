/** `phm completion`: what a shell offers when Tab is pressed. */
import { Argument, type Command } from 'commander';
import type { CliContext } from '../context.ts';
import { bashScript, fishScript, zshScript } from './scripts.ts';
import { readCommands } from './words.ts';

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript } as const;
type Shell = keyof typeof SCRIPTS;

const HELP = `
Examples:
  source <(phm completion bash)                                     # this shell; in ~/.bashrc: every shell
  phm completion zsh > "\${fpath[1]}/_phm"                           # or source it after compinit
  phm completion fish > ~/.config/fish/completions/phm.fish
`;

export function addCompletionCommand(program: Command, context: CliContext): void {
  program
    .command('completion')
    .description('write a script that completes this command line in a shell')
    .addArgument(new Argument('<shell>', 'the shell').choices(Object.keys(SCRIPTS)))
    .addHelpText('after', HELP)
    .action((shell: Shell) => context.out(SCRIPTS[shell](readCommands(program))));
}
