/** A command is there with its help, whether it was loaded alone or with all others. */
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { Command } from 'commander';
import { addCommands } from '../../src/cli/commands.ts';
import type { CliContext } from '../../src/cli/context.ts';

async function programWith(word?: string): Promise<Command> {
  const program = new Command('phm');
  await addCommands(program, { env: {} } as CliContext, () => {}, word);
  return program;
}

/** Returns the help of a command and of all below it. */
function helpsOf(command: Command): string[] {
  return [command.helpInformation(), ...command.commands.flatMap(helpsOf)];
}

/** These list the others, so they come with all. */
const WITH_ALL = ['completion', 'help'];

describe('the commands of phm', () => {
  let all: Command;
  before(async () => {
    all = await programWith();
  });

  it('load without those of other files', async () => {
    assert.ok(all.commands.length > 25, `${all.commands.length} commands`);
    for (const command of all.commands) {
      const alone = await programWith(command.name());
      const found = alone.commands.find((one) => one.name() === command.name());
      assert.deepEqual(found && helpsOf(found), helpsOf(command), command.name());
      if (!WITH_ALL.includes(command.name())) {
        assert.ok(alone.commands.length <= 4, `${command.name()} comes with too many others`);
      }
    }
  });

  it('load together for a word that is no command, so that one of them can be meant', async () => {
    for (const word of ['generat', '--help', '', 'constructor', ...WITH_ALL]) {
      const names = (program: Command) => program.commands.map((one) => one.name());
      assert.deepEqual(names(await programWith(word)), names(all), word);
    }
  });
});
