/** Every function of the package ais-20-31 with every wrong argument. */
import * as ais from '#ais-20-31';
import {
  type Callee,
  integer,
  nothing,
  optional,
  options,
  testWrongArguments,
} from '../support/lab/wrong-arguments.ts';
import { aesStream } from './reference.ts';

const BITS = aesStream().subarray(0, 1_100_000);

const TABLE: Readonly<Record<string, Callee>> = {
  procedureA: {
    call: ais.procedureA,
    args: [BITS, {}],
    takes: [
      nothing,
      options({ width: integer(1, 256), bits: nothing, offsetBits: integer(0, 500_000) }),
    ],
  },
  procedureABits: { call: ais.procedureABits, args: [8], takes: [optional(integer(1, 256))] },
  procedureB: {
    call: ais.procedureB,
    args: [BITS, {}],
    takes: [nothing, options({ bits: nothing, offsetBits: integer(0, 500_000) })],
  },
  suiteIrn: {
    call: ais.suiteIrn,
    args: [BITS, {}],
    takes: [nothing, options({ bits: nothing, offsetBits: integer(0, 500_000) })],
  },
};

testWrongArguments(ais, TABLE);
