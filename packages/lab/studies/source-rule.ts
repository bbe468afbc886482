/**
 * Measures the rule on sources: how often it fails sound sources, and what it finds.
 *
 *   node packages/lab/studies/source-rule.ts tails BITS SEQUENCES
 *   node packages/lab/studies/source-rule.ts rates FOLDER BITS SOURCES [SEQUENCES]
 *   node packages/lab/studies/source-rule.ts table FOLDER
 *   node packages/lab/studies/source-rule.ts power
 *
 * `tails` counts the sequences below each limit of the part "low sequences". `rates` judges sound sources of up to
 * SEQUENCES sequences (1,000) after 1, 2, 5, … of them, and saves a line for each source as it goes, so you can stop and
 * continue at any time. `table` prints the saved rates as Markdown. `power` judges defective sources by this rule and by
 * the one before it. Sequences are AES-256-CTR under keys that depend on the arguments alone, so everything can be repeated
 * byte by byte.
 */
import { measurePower } from './source-rule/power.ts';
import { measureRates, rateTable } from './source-rule/rates.ts';
import { measureTails } from './source-rule/tails.ts';

const USAGE = `usage: source-rule.ts tails BITS SEQUENCES
       source-rule.ts rates FOLDER BITS SOURCES [SEQUENCES]
       source-rule.ts table FOLDER
       source-rule.ts power
`;

const print = (line: string): boolean => process.stdout.write(`${line}\n`);

const [command, ...words] = process.argv.slice(2);
if (command === 'tails' && words.length === 2) {
  for (const line of measureTails(Number(words[0]), Number(words[1]))) print(line);
} else if (command === 'rates' && words.length >= 3) {
  const [bits, sources, sequences = 1000] = words.slice(1).map(Number);
  measureRates(words[0], { bits, sources, sequences });
} else if (command === 'table' && words.length === 1) {
  for (const line of rateTable(words[0])) print(line);
} else if (command === 'power' && words.length === 0) {
  for (const line of measurePower()) print(line);
} else {
  process.stderr.write(USAGE);
  process.exitCode = 2;
}
