/**
 * A process that does nothing but run the suite of a validated key, for `bench/clients.ts`: the most that a core can give.
 * Its argument is the number of seconds. Prints one JSON line: how many runs, and their median in ms.
 */
import { randomBytes } from 'node:crypto';
import { runEvidenceSuite } from '../src/keys/evidence-suite.ts';
import { SAMPLE_BYTES } from '../src/keys/sample.ts';
import { median } from './results.ts';

const WARM_UP_RUNS = 100;

const sample = randomBytes(SAMPLE_BYTES);
for (let i = 0; i < WARM_UP_RUNS; i++) runEvidenceSuite(sample);
const times: number[] = [];
const endMs = performance.now() + 1_000 * Number(process.argv[2]);
for (let from = performance.now(); from < endMs; from = performance.now()) {
  runEvidenceSuite(sample);
  times.push(performance.now() - from);
}
process.stdout.write(`${JSON.stringify({ runs: times.length, medianMs: median(times) })}\n`);
