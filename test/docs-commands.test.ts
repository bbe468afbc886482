/**
 * Every command that the documents print: this project's own commands and options exist, its scripts and paths exist,
 * and the shell can parse each block. The guides and the README are run as well (`test/campaigns/guides.test.ts`,
 * `test/slow/deploy/readme.test.ts`).
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { filesOf, UsageError } from '../scripts/tests/tiers.ts';
import { helpEntries, readHelps } from './support/servers/command-help.ts';
import { ROOT } from './support/texts/imports.ts';
import {
  type CodeBlock,
  codeBlocks,
  type Page,
  prose,
  readPages,
} from './support/texts/markdown.ts';
import { shellCommands } from './support/texts/shell-commands.ts';

/** Programs of other projects. Their options are not checked here: most need a daemon, a cluster or root. */
const OTHER_PROGRAMS = new Set(
  (
    '. RNG_test age apt-get awk cat chgrp chmod chronyc cmp cp createdb createuser cut dieharder docker echo ent git go grep head install ' +
    'journalctl jq kill kubectl ln ls mkdir mv openssl pg_dump pg_restore printf psql python3 rm rngtest runuser sed sh sha256sum source sqlite3 ' +
    'ssh-keygen sort swanctl systemctl test timedatectl tail tar touch uniq wc wg xargs'
  ).split(' '),
);
const OWN = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).scripts;
/** Programs of the packages: their READMEs are proven by tests of their own. */
const PACKAGES = new Set(['phm-agent']);
/** What the agent answers, which has no OpenAPI document. */
const AGENT_PATHS = ['status', 'enc_keys', 'dec_keys'].map(
  (method) => `/api/v1/keys/{name}/${method}`,
);
const NPM = new Set([
  'ci',
  'init',
  'test',
  'start',
  'audit',
  'install',
  'ls',
  'pack',
  'rebuild',
  'sbom',
]);

interface Printed {
  readonly where: string;
  readonly words: readonly string[];
}

/** The blocks of shell text of a page; of a block that shows a terminal, what follows a prompt. */
function shellBlocks(page: Page): CodeBlock[] {
  return codeBlocks(page).flatMap((block) => {
    if (/^(?:sh|bash)$/.test(block.language)) return [block];
    if (block.language !== 'console') return [];
    const typed = block.code.match(/^\$ (?:.*\\\n)*.*$/gm) ?? [];
    return [{ ...block, code: typed.map((line) => `${line.slice(2)}\n`).join('') }];
  });
}

/** The commands of the blocks, and the ones of this project that stand in a sentence. */
function printedCommands(): Printed[] {
  return readPages().flatMap((page) => {
    const blocks = shellBlocks(page);
    const inBlocks = blocks.flatMap(({ code, line }) =>
      shellCommands(code)
        .filter(([program = '']) => !code.includes(`${program}() {`))
        .map((words) => ({ where: `${page.path}:${line}`, words })),
    );
    const spans = [...prose(page.text).matchAll(/`((?:[\w/]*\bphm|npm|npx|node) [^`\n]+)`/g)];
    const inSentences = spans.flatMap(([, code = '']) =>
      shellCommands(code.replaceAll('…', '')).map((words) => ({ where: page.path, words })),
    );
    return [...inBlocks, ...inSentences];
  });
}

/** The words after `phm`, or undefined if it is another program. */
function phmArguments(words: readonly string[]): readonly string[] | undefined {
  const inner = words.findLastIndex((word, place) =>
    (place === 0 ? /(?:^|\/)phm$/ : /\/phm$/).test(word),
  );
  if (
    inner === 0 ||
    (inner > 0 && /^(?:docker|kubectl|runuser|systemd-run)$/.test(words[0] ?? ''))
  ) {
    return words.slice(inner + 1);
  }
  const npm = words.join(' ').match(/^npm run (?:-s|--silent) phm --(?: (.*))?$/);
  return npm ? (npm[1]?.split(' ') ?? []) : undefined;
}

/** The help of each command, by its words. */
let helps: Map<string, string>;

/** Says what is wrong with a command of `phm`, or returns undefined. */
function phmFault(args: readonly string[]): string | undefined {
  let path = '';
  for (const word of args) {
    const isGroup = helpEntries(helps.get(path) ?? '', 'Commands').length > 0;
    // COMMAND stands for any command, and brackets hold an option or argument that may be left out.
    if (!isGroup || /^[-[]/.test(word) || word === 'COMMAND') break;
    path = `${path} ${word}`.trimStart();
    if (!helps.has(path)) return `phm ${path}: no such command`;
  }
  const text = helps.get(path) ?? '';
  const options = args.filter((word) => /^--?[a-z]/.test(word)).map((word) => word.split('=')[0]);
  const unknown = options.find((name) => !new RegExp(`(?:^|[\\s,])${name}(?![\\w-])`).test(text));
  return unknown === undefined ? undefined : `phm ${path} ${unknown}: no such option`;
}

function nodeFault(words: readonly string[], viaNpx: boolean): string | undefined {
  const file = words.slice(1).find((word) => !word.startsWith('-') && word !== 'inspect');
  if (file === undefined || words.includes('-e') || words.includes('-p')) return undefined;
  // The reader writes other scripts, as the page says.
  if (!/^(?:bench|scripts|src|packages|sdk|test)\//.test(file)) return undefined;
  if (!existsSync(join(ROOT, file))) return `node ${file}: no such file`;
  // A reader's own Node may be 20, which cannot run TypeScript; npx finds the Node that npm ci installed.
  return viaNpx || !file.endsWith('.ts') ? undefined : `node ${file}: write "npx node"`;
}

/** Returns what the runner says of groups of slow tests that it does not know. */
function groupFault(groups: readonly string[]): string | undefined {
  try {
    filesOf('slow', groups);
    return undefined;
  } catch (error) {
    if (error instanceof UsageError) return error.message;
    throw error;
  }
}

function npmFault(words: readonly string[]): string | undefined {
  const [, verb = '', ...rest] = words;
  if (verb !== 'run')
    return NPM.has(verb) ? undefined : `npm ${verb}: not in the list of this test`;
  const script = rest.find((word) => !word.startsWith('-')) ?? '';
  const folder = rest[rest.indexOf('--workspace') + 1] ?? '';
  const scripts = rest.includes('--workspace')
    ? JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8')).scripts
    : OWN;
  if (!(script in scripts)) return `npm run ${script}: no such script`;
  const files = rest.filter((word) => word.startsWith('test/'));
  const missing = files.find((file) => !existsSync(join(ROOT, file)));
  if (missing !== undefined) return `npm run ${script} ${missing}: no such file`;
  return script === 'test:slow' ? groupFault(rest.slice(1)) : undefined;
}

/** The paths that the server answers, from the types that its OpenAPI document makes. */
function servedPaths(): RegExp[] {
  const schema = readFileSync(join(ROOT, 'sdk/src/schema.ts'), 'utf8');
  const paths = [...schema.matchAll(/^ {4}'?"?(\/[\w/{}.-]*)'?"?: \{$/gm)].map(
    ([, path = '']) => path,
  );
  assert.ok(paths.includes('/api/v2/generate'), paths.join(' '));
  const all = [...paths, ...AGENT_PATHS, '/', '/docs', '/metrics', '/openapi.json'];
  return all.map((path) => new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`));
}

function curlFault(words: readonly string[], served: readonly RegExp[]): string | undefined {
  const url = words.find((word) => /^(?:https?:\/\/|\$\{?PHM_URL|"?\$URL)/.test(word));
  const path = url && /^(?:https?:\/\/[^/]+|\$\{?\w+\}?)(\/[^?#]*)?/.exec(url)?.[1];
  if (!path) return undefined;
  return served.some((pattern) => pattern.test(path)) ? undefined : `curl ${path}: no such route`;
}

function fault(words: readonly string[], served: readonly RegExp[]): string | undefined {
  const args = phmArguments(words);
  if (args) return phmFault(args);
  const [program = ''] = words;
  if (program === 'node') return nodeFault(words, false);
  if (program === 'npm') return npmFault(words);
  if (program === 'npx') return words[1] === 'node' ? nodeFault(words.slice(1), true) : undefined;
  if (program === 'curl') return curlFault(words, served);
  if (program.includes('/') || program.includes('$')) return undefined;
  return OTHER_PROGRAMS.has(program) || PACKAGES.has(program)
    ? undefined
    : `${program}: not in the list of this test`;
}

describe('the commands in the documents', () => {
  let served: RegExp[];
  before(async () => {
    helps = await readHelps();
    served = servedPaths();
  });

  it('exist, with their options', () => {
    const printed = printedCommands();
    assert.ok(printed.filter(({ words }) => phmArguments(words)).length > 100, `${printed.length}`);
    const faults: string[] = [];
    for (const { where, words } of printed) {
      const problem = fault(words, served);
      if (problem) faults.push(`${where}: ${problem}`);
    }
    assert.deepEqual(faults, []);
  });

  it('stand in blocks that the shell can parse', () => {
    const shell = readPages().flatMap(shellBlocks);
    assert.ok(shell.length > 20, `${shell.length} blocks`);
    const faults = shell.map(({ page, line, code }) => {
      // A name in angle brackets stands for what the reader fills in.
      const input = code.replaceAll(/<[\w -]+>/g, 'x').replaceAll('…', 'x');
      const { status, stderr } = spawnSync('bash', ['-n'], { input, encoding: 'utf8' });
      return status === 0 ? '' : `${page}:${line}: ${stderr}`;
    });
    assert.equal(faults.join(''), '');
  });

  it('stand in fenced blocks, so that this test sees them', () => {
    const hidden = readPages().flatMap(({ path, text }) =>
      [
        ...prose(text).matchAll(
          /^ {4,}(?:\$ |(?:\S*\/)?phm |npm |node |curl |docker |kubectl ).*$/gm,
        ),
      ].map(([line]) => `${path}: ${line.trim()}`),
    );
    assert.deepEqual(hidden, []);
  });

  it('are found out when one is wrong', () => {
    for (const words of [
      'bin/phm ledger vrify',
      'phm generate --levle 256',
      'npm run -s phm -- ledger prune --older 3',
      'docker compose exec a /opt/phm/bin/phm acount list',
      'npm run gone',
      'npm run test:one -- test/gone.test.ts',
      'npm run test:slow gone',
      'npx node inspect test/gone.test.ts',
      'npx node bench/gone.ts',
      'node bench/http.ts',
      'curl -s http://127.0.0.1:8080/api/v2/gone',
      'gnerate',
    ]) {
      assert.notEqual(fault(shellCommands(words)[0] ?? [], served), undefined, words);
    }
    assert.deepEqual(shellCommands('A=1 a \'b c\' \\\n d # e\nf | g "$(h i)"; sudo j > k'), [
      ['a', 'b c', 'd'],
      ['f'],
      ['g', '$(h i)'],
      ['j'],
    ]);
  });
});
