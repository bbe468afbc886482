/** Judges samples of another thread's generator by the whole suite, and regularly tests the suite by known answers. */
import { wipe } from '../../bytes.ts';
import type { SampleVerdict } from '../../keys/evidence-suite.ts';
import type { Generator } from '../../keys/generator.ts';
import { judgeSample } from '../../keys/self-test.ts';
import { type SelfTestResult, suiteSelfTest } from '../../keys/suite-self-test.ts';
import type { EvidenceSample } from './messages.ts';

/** Known answers are tested before every eighth sample. They cost as much as a sample. */
const SAMPLES_A_SELF_TEST = 8;

export class SampleSuite {
  readonly #generator: Pick<Generator, 'latch'>;
  readonly #selfTest: () => SelfTestResult;
  #samples = 0;

  /** Latches the process through `generator` if the suite gives a wrong answer. */
  constructor(generator: Pick<Generator, 'latch'>, selfTest = () => suiteSelfTest(1)) {
    this.#generator = generator;
    this.#selfTest = selfTest;
  }

  judge({ sample }: EvidenceSample): SampleVerdict {
    try {
      this.#samples += 1;
      if (this.#samples % SAMPLES_A_SELF_TEST === 0) this.#testSuite();
      return judgeSample(sample);
    } finally {
      wipe(sample);
    }
  }

  #testSuite(): void {
    const { name, passed } = this.#selfTest();
    if (passed) return;
    this.#generator.latch({ cause: 'self_test', test: name, detail: `failed: ${name}` });
  }
}
