/**
 * Runs real servers with a fault in the path of their keys, one for each row, and prints what each released after the fault began:
 * the table of docs/evidence/key-faults.md.
 *
 *     node scripts/key-faults.ts [stage]
 *
 * `stage` selects the rows whose stage begins with it. A row ends after 40 keys. It takes some three minutes.
 */
import { EXPERIMENTS, runKeyFault } from '../test/support/faults/key-fault-run.ts';

/** Keys after which a fault counts as not found. */
const MOST = 40;

const [stage = ''] = process.argv.slice(2);
process.stdout.write(
  '| Where | Fault | Asked for | Keys released | Stopped by |\n|---|---|---|---|---|\n',
);
for (const experiment of EXPERIMENTS.filter((one) => one.stage.startsWith(stage))) {
  const { released, stoppedBy } = await runKeyFault(experiment, MOST);
  const { stage: where, fault, asked } = experiment;
  process.stdout.write(`| ${where} | ${fault} | ${asked} | ${released} | ${stoppedBy} |\n`);
}
