/**
 * Runs this laboratory, with and without `thorough`, and PractRand and dieharder where they are installed, on the zoo:
 *
 *     node packages/lab/studies/zoo/run.ts RESULTS.json [--practrand RNG_test] [--dieharder dieharder] [--only NAME…]
 *     node packages/lab/studies/zoo/run.ts RESULTS.json --print
 *
 * Each tool gets 1, 4 and 64 MiB, until it fails: more of the same is not tested. dieharder gets 64 MiB of what `thorough`
 * passes at 4 MiB. The short lengths come first. Results are saved after each tool, and a run goes on where the last one
 * ended. docs/evidence/zoo.md has the table of --print.
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { bytesOf, type ZooGenerator } from './generator.ts';
import { type Results, type ToolName, table } from './table.ts';
import { type Finding, ofDieharder, ofLaboratory, ofPractRand } from './tools.ts';
import { ZOO } from './zoo.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    practrand: { type: 'string' },
    dieharder: { type: 'string' },
    only: { type: 'string', multiple: true },
    again: { type: 'string', multiple: true },
    print: { type: 'boolean', default: false },
  },
});
const [path] = positionals;
if (path === undefined) throw new TypeError('RESULTS.json expected');

/** Returns what a tool finds in the first of each number of MiB. The last is the number of all bytes. */
type Tool = (
  bytes: Uint8Array,
  lengths: readonly number[],
) => Record<number, Finding> | Promise<Record<number, Finding>>;

const ofAll =
  (judge: (bytes: Uint8Array) => Finding | Promise<Finding>): Tool =>
  async (bytes, lengths) => ({ [lengths[lengths.length - 1]]: await judge(bytes) });

const tools: Partial<Record<ToolName, Tool>> = {
  plain: ofAll((bytes) => ofLaboratory(bytes, false)),
  thorough: ofAll((bytes) => ofLaboratory(bytes, true)),
};
const { practrand, dieharder } = values;
if (practrand) {
  tools.practrand = (bytes, lengths) => ofPractRand(practrand, bytes, lengths);
}
const scratch = join(tmpdir(), `zoo-${process.pid}.bin`);
if (dieharder) {
  tools.dieharder = ofAll((bytes) => ofDieharder(dieharder, scratch, bytes));
}

const results: Results = existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : {};

/** Replaces the file at once, so that a run can be ended at any time. */
function save(file: string): void {
  writeFileSync(`${file}.new`, `${JSON.stringify(results, null, 1)}\n`);
  renameSync(`${file}.new`, file);
}

function hasFailed(generator: ZooGenerator, tool: ToolName): boolean {
  return Object.values(results[generator.name]?.[tool] ?? {}).some(({ failed }) => failed);
}

/** Runs tools on the first of each number of MiB, unless they have failed or are done. */
async function run(
  generator: ZooGenerator,
  lengths: readonly number[],
  names: readonly ToolName[],
): Promise<void> {
  results[generator.name] ??= {};
  const ofGenerator = results[generator.name];
  const most = lengths[lengths.length - 1];
  let bytes: Uint8Array | undefined;
  for (const name of names) {
    const tool = tools[name];
    ofGenerator[name] ??= {};
    const done = ofGenerator[name];
    if (!tool || hasFailed(generator, name) || done[most]) continue;
    bytes ??= bytesOf(generator, most * 2 ** 20);
    Object.assign(done, await tool(bytes, lengths));
    save(path);
  }
  process.stderr.write(`${most} MiB ${generator.name}: ${names.join(', ')}\n`);
}

async function runAll(zoo: readonly ZooGenerator[]): Promise<void> {
  const isHidden = (generator: ZooGenerator): boolean => !hasFailed(generator, 'thorough');
  for (const lengths of [[1], [1, 4]]) {
    for (const generator of zoo) {
      await run(generator, lengths, ['plain', 'thorough', 'practrand']);
    }
  }
  // What another tool fails comes first, then the controls.
  for (const generator of zoo.filter(isHidden)) {
    await run(generator, [64], ['practrand', 'dieharder']);
  }
  const isUrgent = (generator: ZooGenerator): boolean =>
    generator.sound === true ||
    hasFailed(generator, 'practrand') ||
    hasFailed(generator, 'dieharder');
  const hidden = zoo.filter(isHidden);
  for (const generator of [...hidden.filter(isUrgent), ...hidden]) {
    await run(generator, [64], ['thorough']);
  }
  for (const generator of zoo) await run(generator, [64], ['plain', 'practrand']);
}

if (values.print) {
  process.stdout.write(table(results));
} else {
  const zoo = ZOO.filter(({ name }) => values.only?.includes(name) ?? true);
  for (const { name } of zoo) {
    for (const tool of values.again ?? []) delete results[name]?.[tool as ToolName];
  }
  await runAll(zoo);
}
