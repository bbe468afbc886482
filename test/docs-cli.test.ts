/** What docs/cli.md promises: `phm COMMAND --help` lists the options, also those that its prose names. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { helpEntries, readHelps } from './support/servers/command-help.ts';
import { ROOT, readSources } from './support/texts/imports.ts';

const PAGE = readFileSync(join(ROOT, 'docs/cli.md'), 'utf8');
const COMMANDS = ['src/cli', 'packages/lab/src/commands'];

/** Options of every command, which the page does not describe. */
const GENERAL = ['--help', '--version'];

/** The help of each command, by its words. Groups such as `phm ledger` have commands instead of options. */
let helps: Map<string, string>;

/** Returns the options of a help text with their descriptions. */
function optionsOf(help: string): { name: string; description: string }[] {
  return helpEntries(help, 'Options').map((entry) => {
    const [terms = '', ...description] = entry.trim().split(/ {2,}/);
    return { name: /--[a-z-]+/.exec(terms)?.[0] ?? terms, description: description.join(' ') };
  });
}

/** Returns the options that the sources of the command line declare. */
function declaredOptions(): string[] {
  return COMMANDS.flatMap((folder) => [...readSources(folder).values()])
    .flatMap((text) => [
      ...text.matchAll(/(?:\.(?:required)?[oO]ption|new Option)\(\s*'[^']*?(--[a-z-]+)/g),
    ])
    .map(([, name = '']) => name);
}

before(async () => {
  helps = await readHelps();
});

describe('docs/cli.md', () => {
  it('names only options that a command has', () => {
    // Some helps list a part of the options under a heading of its own.
    const listed = [...helps.values()].flatMap((help) => [...help.matchAll(/^ .*?(--[a-z-]+)/gm)]);
    const known = new Set(listed.map(([, name]) => name));
    const named = [...PAGE.matchAll(/`[^`\n]*?(--[a-z][a-z-]+)[^`\n]*`/g)].map(([, name]) => name);
    assert.ok(named.length > 10, `${named.length} options`);
    const gone = named.filter((name) => !known.has(name));
    assert.deepEqual(gone, [], `docs/cli.md names ${gone.join(', ')}, which no command has`);
  });
});

describe('the --help of each command', () => {
  it('describes each of its options', () => {
    for (const [words, help] of helps) {
      for (const { name, description } of optionsOf(help))
        assert.notEqual(description, '', `phm ${words} ${name}`);
    }
  });

  it('lists every option that the sources declare', () => {
    const listed = new Set([...helps.values()].flatMap(optionsOf).map(({ name }) => name));
    const declared = declaredOptions();
    assert.ok(declared.length > 40, `${declared.length} options`);
    const hidden = declared.filter((name) => !listed.has(name));
    assert.deepEqual(hidden, [], `the sources declare ${hidden.join(', ')}, which no --help lists`);
    for (const name of listed)
      assert.ok(
        declared.includes(name) || GENERAL.includes(name),
        `the sources declare no ${name}`,
      );
  });
});
