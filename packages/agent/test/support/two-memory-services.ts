/** Two key services in memory as one, for sites that need both. */
import type { Clock } from '../../src/clock.ts';
import type { KeyBoxes } from '../../src/source/key-boxes.ts';
import { TwoServices } from '../../src/source/two-services.ts';
import { MemoryService } from './memory-service.ts';

export class TwoMemoryServices {
  readonly both: readonly [MemoryService, MemoryService];
  readonly #clock: Clock;

  constructor(clock: Clock, random: () => number = Math.random) {
    this.#clock = clock;
    this.both = [
      new MemoryService(clock, random, 'one.example/log'),
      new MemoryService(clock, random, 'two.example/log'),
    ];
  }

  boxesFor(thumbprint: string): KeyBoxes {
    const [one, two] = this.both;
    const first = { name: 'one', boxes: one.boxesFor(thumbprint) };
    return new TwoServices([first, { name: 'two', boxes: two.boxesFor(thumbprint) }], this.#clock);
  }
}
