/** One qubit: two complex amplitudes, and the gates of both circuit forms as 2 × 2 matrices. */

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

/** `sx` of OpenQASM's stdgates.inc, the square root of `x`. */
export const SQRT_X: Gate = [
  [
    [0.5, 0.5],
    [0.5, -0.5],
  ],
  [
    [0.5, -0.5],
    [0.5, 0.5],
  ],
];

/** `rz(theta)` of OpenQASM's stdgates.inc: `p(theta)` up to a global phase of −theta/2. */
export function zRotation(theta: number): Gate {
  const [cos, sin] = [Math.cos(theta / 2), Math.sin(theta / 2)];
  return [
    [
      [cos, -sin],
      [0, 0],
    ],
    [
      [0, 0],
      [cos, sin],
    ],
  ];
}

export function applyGate([row0, row1]: Gate, [zero, one]: Qubit): Qubit {
  return [
    add(multiply(row0[0], zero), multiply(row0[1], one)),
    add(multiply(row1[0], zero), multiply(row1[1], one)),
  ];
}

/** Returns the probability that a measurement in the Z basis gives 1, by the Born rule. */
export function probabilityOfOne([, [re, im]]: Qubit): number {
  return re * re + im * im;
}

function multiply([a, b]: Complex, [c, d]: Complex): Complex {
  return [a * c - b * d, a * d + b * c];
}

function add([a, b]: Complex, [c, d]: Complex): Complex {
  return [a + c, b + d];
}
