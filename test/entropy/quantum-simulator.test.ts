import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { countOnes } from '../../src/bytes.ts';
import { openSource } from '../../src/entropy/index.ts';
import { PRIME_PHASE_CIRCUIT } from '../../src/entropy/sources/circuit.ts';
import { sampleShots, simulateCircuit } from '../../src/entropy/sources/quantum-simulator.ts';
import {
  applyGate,
  type Complex,
  HADAMARD,
  phaseGate,
  probabilityOfOne,
  type Qubit,
  ZERO,
} from '../../src/entropy/sources/qubit.ts';

function assertClose(got: number, expected: number, tolerance = 1e-12): void {
  assert.ok(
    Math.abs(got - expected) <= tolerance,
    `${got} is not within ${tolerance} of ${expected}`,
  );
}

function norm([[a, b], [c, d]]: Qubit): number {
  return a * a + b * b + c * c + d * d;
}

const angle = fc.double({ min: -10, max: 10, noNaN: true });
/** cos(x)|0⟩ + e^{iy} sin(x)|1⟩: any qubit up to a phase. */
const qubitOf = fc.tuple(angle, angle).map(([x, y]): Qubit => {
  const one: Complex = [Math.sin(x) * Math.cos(y), Math.sin(x) * Math.sin(y)];
  return [[Math.cos(x), 0], one];
});

describe('the gates of the prime-phase circuit', () => {
  it('make an even superposition of |0⟩ with h', () => {
    const [[zeroRe, zeroIm], [oneRe, oneIm]] = applyGate(HADAMARD, ZERO);
    assertClose(zeroRe, Math.SQRT1_2);
    assertClose(oneRe, Math.SQRT1_2);
    assert.equal(zeroIm, 0);
    assert.equal(oneIm, 0);
  });

  it('undo h with a second h', () => {
    fc.assert(
      fc.property(qubitOf, (qubit) => {
        const back = applyGate(HADAMARD, applyGate(HADAMARD, qubit));
        for (const [i, amplitude] of back.flat().entries()) assertClose(amplitude, qubit.flat()[i]);
      }),
    );
  });

  it('preserve the norm', () => {
    fc.assert(
      fc.property(qubitOf, angle, (qubit, theta) => {
        assertClose(norm(applyGate(HADAMARD, qubit)), 1);
        assertClose(norm(applyGate(phaseGate(theta), qubit)), 1);
      }),
    );
  });

  it('keep the probabilities in the Z basis with p', () => {
    fc.assert(
      fc.property(qubitOf, angle, (qubit, theta) => {
        const turned = applyGate(phaseGate(theta), qubit);
        assertClose(probabilityOfOne(turned), probabilityOfOne(qubit));
      }),
    );
  });

  it('turn the phase with p, visible between two h as sin²(θ/2)', () => {
    fc.assert(
      fc.property(angle, (theta) => {
        const turned = applyGate(phaseGate(theta), applyGate(HADAMARD, ZERO));
        const expected = Math.sin(theta / 2) ** 2;
        assertClose(probabilityOfOne(applyGate(HADAMARD, turned)), expected);
      }),
    );
  });
});

describe('the prime-phase circuit', () => {
  it('measures 1 with probability ½ on each of eight qubits', () => {
    const probabilities = simulateCircuit();
    assert.equal(probabilities.length, 8);
    for (const probability of probabilities) assertClose(probability, 0.5);
  });

  it('is OpenQASM 3 with one h and p(pi/prime) per qubit and one measurement', () => {
    const primes = [2, 3, 5, 7, 11, 13, 17, 19];
    assert.deepEqual(PRIME_PHASE_CIRCUIT.trimEnd().split('\n'), [
      'OPENQASM 3.0;',
      'include "stdgates.inc";',
      'qubit[8] q;',
      'bit[8] c;',
      ...primes.flatMap((prime, i) => [`h q[${i}];`, `p(pi/${prime}) q[${i}];`]),
      'c = measure q;',
    ]);
  });
});

describe('the sampler', () => {
  it('assigns qubit 0 to the least significant bit of a shot', () => {
    const target = Buffer.alloc(20);
    sampleShots([1, 0, 0, 0, 0, 0, 0, 1], target);
    assert.deepEqual(target, Buffer.alloc(20, 0b1000_0001));
  });

  it('follows the Born rule for uneven probabilities', () => {
    const probabilities = [0.1, 0.25, 0.5, 0.75, 0.9, 0.01, 0.99, 0.3];
    const shots = 40_000;
    const target = Buffer.alloc(shots);
    sampleShots(probabilities, target);
    for (const [qubit, p] of probabilities.entries()) {
      const ones = target.reduce((sum, byte) => sum + ((byte >>> qubit) & 1), 0);
      // Six standard deviations: a false alarm in 5·10^8 qubits.
      const bound = 6 * Math.sqrt(shots * p * (1 - p));
      assert.ok(Math.abs(ones - shots * p) < bound, `qubit ${qubit}: ${ones} ones`);
    }
  });
});

describe('the quantum-simulator source', () => {
  it('draws 48 bytes with zero credited entropy and no job', () => {
    const source = openSource('quantum-simulator');
    const { bytes, creditBits, jobId } = source.draw();
    assert.equal(bytes.length, 48);
    assert.equal(creditBits, 0);
    assert.equal(jobId, null);
    assert.deepEqual(source.status(), {
      name: 'quantum-simulator',
      kind: 'quantum-simulator',
      state: 'delivering',
      healthy: true,
      creditBitsPerDraw: 0,
      draws: 1,
      failures: 0,
    });
    source.close();
  });

  it('draws balanced bits', () => {
    const source = openSource('quantum-simulator');
    const draws = 500;
    let ones = 0;
    for (let i = 0; i < draws; i++) ones += countOnes(source.draw().bytes);
    const n = draws * 384;
    // Binomial(n, ½): six standard deviations, a false alarm in 5·10^8 runs.
    assert.ok(Math.abs(ones - n / 2) < 6 * Math.sqrt(n / 4), `${ones} ones of ${n}`);
    source.close();
  });

  it('refuses to draw after close', () => {
    const source = openSource('quantum-simulator');
    source.close();
    assert.throws(() => source.draw(), { code: 'entropy_unavailable' });
  });
});
