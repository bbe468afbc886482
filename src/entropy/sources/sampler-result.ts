/**
 * Results of the sampler primitive, version 2, for the prime-phase circuit: a shot is a hexadecimal
 * number of eight bits.
 *
 * IBM Quantum Platform, "Sampler with the REST API", section 4:
 * https://quantum.cloud.ibm.com/docs/guides/sampler-rest-api
 */
import Type from 'typebox';
import { Check } from 'typebox/value';
import { wipe } from '../../bytes.ts';
import { CIRCUIT_PRIMES } from './circuit.ts';

const QUBITS = CIRCUIT_PRIMES.length;

/**
 * `c` is the register of the circuit. The guide shows only `samples`, so `num_bits` may be missing.
 */
const SamplerResult = Type.Object({
  results: Type.Tuple([
    Type.Object({
      data: Type.Object({
        c: Type.Object({
          samples: Type.Array(Type.String({ maxLength: 16 })),
          num_bits: Type.Optional(Type.Literal(QUBITS)),
        }),
      }),
    }),
  ]),
});

/**
 * Returns the shots, qubit 0 in the least significant bit, or null unless `answer` is a result with
 * exactly `count` shots of eight bits.
 */
export function readShots(answer: unknown, count: number): Uint8Array | null {
  if (!Check(SamplerResult, answer)) return null;
  const { samples } = answer.results[0].data.c;
  if (samples.length !== count) return null;
  const shots = new Uint8Array(count);
  for (const [i, sample] of samples.entries()) {
    if (!/^0x[0-9a-fA-F]{1,2}$/.test(sample)) {
      wipe(shots);
      return null;
    }
    shots[i] = Number(sample);
  }
  return shots;
}

/**
 * Returns one bit per byte: all shots of qubit 0, then those of qubit 1. A stuck qubit makes one long
 * run, which the repetition count test detects (SP 800-90B §4.4.1).
 */
export function toQubitMajor(shots: Uint8Array): Uint8Array {
  const bits = new Uint8Array(shots.length * QUBITS);
  for (let qubit = 0; qubit < QUBITS; qubit++) {
    for (let i = 0; i < shots.length; i++) {
      bits[qubit * shots.length + i] = (shots[i] >>> qubit) & 1;
    }
  }
  return bits;
}
