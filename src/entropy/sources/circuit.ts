/**
 * The prime-phase circuit: on qubit i, `h`, then `p(π/p_i)` with the i-th prime, then measurement.
 *
 * One text serves the simulator and quantum hardware. The phase gate turns the state about the axis
 * that is measured, so it does not change the probabilities: each bit is an even coin by `h` alone.
 */

/** The primes of the phases, qubit 0 first. */
export const CIRCUIT_PRIMES: readonly number[] = [2, 3, 5, 7, 11, 13, 17, 19];

const GATES: string = CIRCUIT_PRIMES.map((p, i) => `h q[${i}];\np(pi/${p}) q[${i}];\n`).join('');

/** The circuit in OpenQASM 3; one shot is the eight bits `c`, `c[0]` the least significant. */
export const PRIME_PHASE_CIRCUIT: string = `OPENQASM 3.0;
include "stdgates.inc";
qubit[${CIRCUIT_PRIMES.length}] q;
bit[${CIRCUIT_PRIMES.length}] c;
${GATES}c = measure q;
`;
