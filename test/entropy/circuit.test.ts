import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  CIRCUIT_PRIMES,
  type CircuitGate,
  NATIVE_CIRCUIT,
  NATIVE_GATES,
  PRIME_PHASE_CIRCUIT,
  PRIME_PHASE_GATES,
} from '../../src/entropy/sources/circuit.ts';
import {
  applyGate,
  type Complex,
  type Gate,
  HADAMARD,
  phaseGate,
  probabilityOfOne,
  type Qubit,
  SQRT_X,
  ZERO,
  zRotation,
} from '../../src/entropy/sources/qubit.ts';

const MATRICES: Record<CircuitGate['name'], (theta: number) => Gate> = {
  h: () => HADAMARD,
  sx: () => SQRT_X,
  p: phaseGate,
  rz: zRotation,
};

function run(gates: readonly CircuitGate[], start: Qubit): Qubit {
  return gates.reduce((qubit, gate) => {
    const theta = 'divisor' in gate ? Math.PI / gate.divisor : 0;
    return applyGate(MATRICES[gate.name](theta), qubit);
  }, start);
}

/** |⟨a|b⟩|²: 1 for equal states, whatever their global phase. */
function fidelity(a: Qubit, b: Qubit): number {
  let [re, im] = [0, 0];
  for (const [i, [x, y]] of a.entries()) {
    const [u, v] = b[i] as Complex;
    re += x * u + y * v;
    im += x * v - y * u;
  }
  return re * re + im * im;
}

function assertClose(got: number, expected: number): void {
  assert.ok(Math.abs(got - expected) < 1e-12, `${got} is not ${expected}`);
}

const angle = fc.double({ min: -10, max: 10, noNaN: true });
const qubitOf = fc.tuple(angle, angle).map(([x, y]): Qubit => {
  const one: Complex = [Math.sin(x) * Math.cos(y), Math.sin(x) * Math.sin(y)];
  return [[Math.cos(x), 0], one];
});

describe('the native form of the prime-phase circuit', () => {
  it('uses only native gates: three for h and one for p on each qubit', () => {
    assert.deepEqual(NATIVE_CIRCUIT.trimEnd().split('\n'), [
      'OPENQASM 3.0;',
      'include "stdgates.inc";',
      'qubit[8] q;',
      'bit[8] c;',
      ...[2, 3, 5, 7, 11, 13, 17, 19].flatMap((prime, i) => [
        `rz(pi/2) q[${i}];`,
        `sx q[${i}];`,
        `rz(pi/2) q[${i}];`,
        `rz(pi/${prime}) q[${i}];`,
      ]),
      'c = measure q;',
    ]);
    assert.doesNotMatch(NATIVE_CIRCUIT, /\b[hp][ (]/);
    assert.match(PRIME_PHASE_CIRCUIT, /^p\(pi\/19\) q\[7\];$/m);
  });

  it('gives the same state up to a global phase, and the same probabilities', () => {
    assert.equal(NATIVE_GATES.length, CIRCUIT_PRIMES.length);
    for (const [i, gates] of PRIME_PHASE_GATES.entries()) {
      const [written, native] = [run(gates, ZERO), run(NATIVE_GATES[i] ?? [], ZERO)];
      assertClose(fidelity(written, native), 1);
      assertClose(probabilityOfOne(native), probabilityOfOne(written));
      assertClose(probabilityOfOne(native), 0.5);
    }
  });

  it('equals the original from any state, except for a phase', () => {
    fc.assert(
      fc.property(qubitOf, fc.nat({ max: 7 }), (qubit, i) => {
        const written = run(PRIME_PHASE_GATES[i] ?? [], qubit);
        const native = run(NATIVE_GATES[i] ?? [], qubit);
        assertClose(fidelity(written, native), 1);
      }),
    );
  });

  it('differs from a wrong form: without the first rz the states differ', () => {
    const [, ...rest] = NATIVE_GATES[0] ?? [];
    const plus: Qubit = [
      [Math.SQRT1_2, 0],
      [Math.SQRT1_2, 0],
    ];
    assert.ok(fidelity(run(PRIME_PHASE_GATES[0] ?? [], plus), run(rest, plus)) < 0.6);
  });
});

describe('the native gates', () => {
  it('turn |0⟩ into |1⟩ with sx twice, which is x', () => {
    assertClose(probabilityOfOne(applyGate(SQRT_X, applyGate(SQRT_X, ZERO))), 1);
    assertClose(probabilityOfOne(applyGate(SQRT_X, ZERO)), 0.5);
  });

  it('keep the probabilities in the Z basis with rz', () => {
    fc.assert(
      fc.property(qubitOf, angle, (qubit, theta) => {
        const turned = applyGate(zRotation(theta), qubit);
        assertClose(probabilityOfOne(turned), probabilityOfOne(qubit));
      }),
    );
  });
});
