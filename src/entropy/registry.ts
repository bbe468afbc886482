/** The table of entropy sources: one row adds a source. */
import type { EntropySource, SourceKind, SourceName } from './source.ts';
import { openOsSource } from './sources/os.ts';
import { openQuantumSimulator } from './sources/quantum-simulator.ts';

interface SourceRow {
  readonly kind: SourceKind;
  readonly open: () => EntropySource;
}

const SOURCES: Readonly<Record<SourceName, SourceRow>> = {
  os: { kind: 'system', open: () => openOsSource() },
  'quantum-simulator': { kind: 'quantum-simulator', open: openQuantumSimulator },
};

export const SOURCE_NAMES: readonly SourceName[] = Object.keys(SOURCES).filter(isSourceName);

export function isSourceName(name: string): name is SourceName {
  return Object.hasOwn(SOURCES, name);
}

export function sourceKind(name: SourceName): SourceKind {
  return SOURCES[name].kind;
}

/** Whether a source of this kind answers in the quantum form, simulated or real. */
export function isQuantum(kind: SourceKind): boolean {
  return kind === 'quantum-simulator' || kind === 'quantum-hardware';
}

/** Opens a source. It does not throw: one that cannot be read says so in `status` and `draw`. */
export function openSource(name: SourceName): EntropySource {
  return SOURCES[name].open();
}
