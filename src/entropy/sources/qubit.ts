/** One qubit: two complex amplitudes, and the prime-phase circuit's gates as 2 × 2 matrices. */

export type Complex = readonly [re: number, im: number];

/** The amplitudes of |0⟩ and |1⟩. */
export type Qubit = readonly [Complex, Complex];

export type Gate = readonly [readonly [Complex, Complex], readonly [Complex, Complex]];

export const ZERO: Qubit = [
  [1, 0],
  [0, 0],
];

/** `h` of OpenQASM's stdgates.inc. */
export const HADAMARD: Gate = [
  [
    [Math.SQRT1_2, 0],
    [Math.SQRT1_2, 0],
  ],
  [
    [Math.SQRT1_2, 0],
    [-Math.SQRT1_2, 0],
  ],
];

/** `p(theta)` of OpenQASM's stdgates.inc; `theta` in radians. */
export function phaseGate(theta: number): Gate {
  return [
    [
      [1, 0],
      [0, 0],
    ],
    [
      [0, 0],
      [Math.cos(theta), Math.sin(theta)],
    ],
  ];
}

export function applyGate([row0, row1]: Gate, [zero, one]: Qubit): Qubit {
  return [
    add(multiply(row0[0], zero), multiply(row0[1], one)),
    add(multiply(row1[0], zero), multiply(row1[1], one)),
  ];
}

/** Born rule: the probability that a measurement in the Z basis gives 1. */
export function probabilityOfOne([, [re, im]]: Qubit): number {
  return re * re + im * im;
}

function multiply([a, b]: Complex, [c, d]: Complex): Complex {
  return [a * c - b * d, a * d + b * c];
}

function add([a, b]: Complex, [c, d]: Complex): Complex {
  return [a + c, b + d];
}
