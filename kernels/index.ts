/**
 * The SP 800-22 kernels: the counting loops of the suite, from which TypeScript (src/sts/) makes
 * p-values. One module, one memory, one sequence at a time.
 */
export { ingest, wipe } from './input';
export { INPUT, INPUT_PAD, RESULTS } from './memory';
