/** What goes wrong at one service or two, for random schedules. */
import fc from 'fast-check';
import type { MemoryService } from './memory-service.ts';

const chance = fc.constantFrom(0, 0, 0.1, 0.5);

/** A step of a schedule: from now on, services are down or have these faults. */
export const disturbance = fc.record({
  do: fc.constant('disturb' as const),
  /** Of two services the first, the second, or both. */
  which: fc.nat(2),
  isDown: fc.boolean(),
  faults: fc.record({
    refuse: chance,
    lose: chance,
    loseMade: chance,
    delay: chance,
    repeat: chance,
    revive: chance,
    slowMs: fc.constantFrom(0, 50, 3_000),
  }),
});

type Disturbance = typeof disturbance extends fc.Arbitrary<infer T> ? T : never;

export function disturb(
  services: readonly MemoryService[],
  { which, isDown, faults }: Disturbance,
): void {
  for (const [i, service] of services.entries()) {
    if (services.length === 2 && which === 1 - i) continue;
    service.isDown = isDown;
    Object.assign(service.faults, faults);
  }
}
