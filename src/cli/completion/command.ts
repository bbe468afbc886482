/** `phm completion`: writes a completion script for a shell. */
import { Argument, type Command } from 'commander';
import type { CliContext } from '../context.ts';
import { bashScript, fishScript, zshScript } from './scripts.ts';
import { readCommands } from './words.ts';

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript } as const;
type Shell = keyof typeof SCRIPTS;

const HELP = `
Examples:
  source <(phm completion bash)                                     # for this shell, or in ~/.bashrc for every shell
  phm completion zsh > "\${fpath[1]}/_phm"                           # or source the script after compinit
  phm completion fish > ~/.config/fish/completions/phm.fish
`;

export function addCompletionCommand(program: Command, context: CliContext): void {
  program
    .command('completion')
    .description('write a completion script for a shell')
    .addArgument(new Argument('<shell>', 'shell to write for').choices(Object.keys(SCRIPTS)))
    .addHelpText('after', HELP)
    .action((shell: Shell) => context.outText(SCRIPTS[shell](readCommands(program))));
}
