/**
 * A simulator of the prime-phase circuit (`circuit.ts`): gates as matrices, shots by the Born rule.
 *
 * The variate of each measurement comes from `node:crypto`, so the output is that of a pseudorandom
 * generator. It is not quantum randomness and is credited zero entropy.
 */
import { randomFillSync } from 'node:crypto';
import { wipe } from '../../bytes.ts';
import { MonitoredSource } from '../monitored-source.ts';
import { CIRCUIT_PRIMES } from './circuit.ts';
import { applyGate, HADAMARD, phaseGate, probabilityOfOne, ZERO } from './qubit.ts';

const QUBITS: number = CIRCUIT_PRIMES.length;

export function openQuantumSimulator(): MonitoredSource {
  const probabilities = simulateCircuit();
  return new MonitoredSource({
    name: 'quantum-simulator',
    kind: 'quantum-simulator',
    creditBitsPerDraw: 0,
    read: (target) => sampleShots(probabilities, target),
    release: () => {},
  });
}

/** Returns the probability of measuring 1 for each qubit. */
export function simulateCircuit(): readonly number[] {
  return CIRCUIT_PRIMES.map((prime) => {
    const superposed = applyGate(HADAMARD, ZERO);
    return probabilityOfOne(applyGate(phaseGate(Math.PI / prime), superposed));
  });
}

/** Fills `target` with one shot of eight qubits per byte, qubit 0 in the least significant bit. */
export function sampleShots(probabilities: readonly number[], target: Uint8Array): void {
  const variates = new Uint32Array(target.length * QUBITS);
  randomFillSync(variates);
  for (let shot = 0; shot < target.length; shot++) {
    let byte = 0;
    for (let qubit = 0; qubit < QUBITS; qubit++) {
      // Uniform on [0, 1) in steps of 2^-32.
      const u = variates[shot * QUBITS + qubit] / 2 ** 32;
      if (u < probabilities[qubit]) byte |= 1 << qubit;
    }
    target[shot] = byte;
  }
  wipe(variates);
}
