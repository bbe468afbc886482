/** The entropy sources of a service: which take part, the threads of some, and how all of them are. */
import type { SourceSettings } from '../config/index.ts';
import {
  BackgroundSource,
  isBackground,
  type SourceEvent,
  type SourceName,
  type SourceStatus,
} from '../entropy/index.ts';
import type { GeneratorStatus } from '../keys/generator.ts';

/** Which entropy sources take part, and what they need to be opened. */
export interface ServiceSources {
  /** That a request may name. */
  readonly names: readonly SourceName[];
  /** The one of requests that name none: without it the service is not ready. */
  readonly default: SourceName;
  /** Mixed into every key while they deliver. */
  readonly mix: readonly SourceName[];
  readonly settings: SourceSettings;
}

/** Starts the threads of those sources that need one: all of them, or none and a `SetupError`. */
export async function openBackgroundSources(
  { names, mix, settings }: ServiceSources,
  onSourceEvent: (name: SourceName, event: SourceEvent) => void,
): Promise<BackgroundSource[]> {
  const opened: BackgroundSource[] = [];
  try {
    for (const name of new Set([...names, ...mix])) {
      if (!isBackground(name)) continue;
      const onEvent = (event: SourceEvent) => onSourceEvent(name, event);
      opened.push(new BackgroundSource(name, settings, onEvent));
    }
    return opened;
  } catch (error) {
    await Promise.all(opened.map((source) => source.close()));
    throw error;
  }
}

/** Every source once: those that generators read themselves summed up, the others as they are now. */
export function mergeSourceStatuses(
  generators: readonly GeneratorStatus[],
  background: readonly BackgroundSource[],
): SourceStatus[] {
  const merged = new Map<SourceName, SourceStatus>();
  for (const one of generators.flatMap(({ sources }) => sources)) {
    // What a generator saw of a pool is as old as its last answer.
    if (!isBackground(one.name)) merged.set(one.name, addStatus(merged.get(one.name), one));
  }
  return [...merged.values(), ...background.map((source) => source.status())];
}

/** One source as two threads see it: healthy where it is for both. */
function addStatus(sum: SourceStatus | undefined, one: SourceStatus): SourceStatus {
  if (!sum) return one;
  return {
    ...(sum.healthy ? one : sum),
    draws: sum.draws + one.draws,
    failures: sum.failures + one.failures,
  };
}
