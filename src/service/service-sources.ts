/** The entropy sources of a service: their selection, their threads and their state. */
import type { SourceSettings } from '../config/index.ts';
import {
  BackgroundSource,
  isBackground,
  type SourceEvent,
  type SourceName,
  type SourceStatus,
} from '../entropy/index.ts';
import type { GeneratorStatus } from '../keys/generator.ts';

/** The selected entropy sources and their settings. */
export interface ServiceSources {
  /** Sources that a request may name. */
  readonly names: readonly SourceName[];
  /** Source of requests that name none. Without it the service is not ready. */
  readonly default: SourceName;
  /** Mixed into every key while they deliver. */
  readonly mix: readonly SourceName[];
  readonly settings: SourceSettings;
}

/** Starts the threads of all sources that need one. If one fails, closes the others and throws `SetupError`. */
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

/** Returns one status for each source. Sources that generators read themselves are summed up; the others are current. */
export function mergeSourceStatuses(
  generators: readonly GeneratorStatus[],
  background: readonly BackgroundSource[],
): SourceStatus[] {
  const merged = new Map<SourceName, SourceStatus>();
  for (const one of generators.flatMap(({ sources }) => sources)) {
    // A generator's view of a pool is as old as its last answer.
    if (!isBackground(one.name)) merged.set(one.name, addStatus(merged.get(one.name), one));
  }
  return [...merged.values(), ...background.map((source) => source.status())];
}

/** Combines the views of two threads on one source, which is healthy if both views are. */
function addStatus(sum: SourceStatus | undefined, one: SourceStatus): SourceStatus {
  if (!sum) return one;
  return {
    ...(sum.healthy ? one : sum),
    draws: sum.draws + one.draws,
    failures: sum.failures + one.failures,
  };
}
