/**
 * The prime-phase circuit: on qubit i, `h`, then `p(π/p_i)` with the i-th prime, then a
 * measurement.
 *
 * One table of gates serves the simulator and quantum hardware. The phase gate rotates the state
 * about the measured axis, so it does not change the probabilities: `h` alone makes each bit an
 * even coin.
 */

/** The primes of the phases, qubit 0 first. */
export const CIRCUIT_PRIMES: readonly number[] = [2, 3, 5, 7, 11, 13, 17, 19];

/** One gate on one qubit. An angle is π divided by `divisor`. */
export type CircuitGate =
  | { readonly name: 'h' | 'sx' }
  | { readonly name: 'p' | 'rz'; readonly divisor: number };

/** The gates on each qubit, in order. */
export const PRIME_PHASE_GATES: readonly (readonly CircuitGate[])[] = CIRCUIT_PRIMES.map(
  (prime) => [{ name: 'h' }, { name: 'p', divisor: prime }],
);

/**
 * The same gates, up to a global phase, as native gates of IBM's processors: since 2024 the service
 * refuses others (ISA circuits). h is rz(π/2)·sx·rz(π/2), and p(θ) is rz(θ).
 */
export const NATIVE_GATES: readonly (readonly CircuitGate[])[] = PRIME_PHASE_GATES.map((gates) =>
  gates.flatMap(toNative),
);

/** The circuit in OpenQASM 3. One shot is the eight bits `c`, with `c[0]` the least significant. */
export const PRIME_PHASE_CIRCUIT: string = toOpenQasm(PRIME_PHASE_GATES);

/** The circuit in OpenQASM 3 with native gates, as sent to hardware. */
export const NATIVE_CIRCUIT: string = toOpenQasm(NATIVE_GATES);

function toNative(gate: CircuitGate): readonly CircuitGate[] {
  if (gate.name === 'h') {
    return [{ name: 'rz', divisor: 2 }, { name: 'sx' }, { name: 'rz', divisor: 2 }];
  }
  return gate.name === 'p' ? [{ name: 'rz', divisor: gate.divisor }] : [gate];
}

function toOpenQasm(qubits: readonly (readonly CircuitGate[])[]): string {
  const gates = qubits.flatMap((list, i) => list.map((gate) => `${toCall(gate)} q[${i}];\n`));
  return `OPENQASM 3.0;
include "stdgates.inc";
qubit[${qubits.length}] q;
bit[${qubits.length}] c;
${gates.join('')}c = measure q;
`;
}

function toCall(gate: CircuitGate): string {
  return 'divisor' in gate ? `${gate.name}(pi/${gate.divisor})` : gate.name;
}
