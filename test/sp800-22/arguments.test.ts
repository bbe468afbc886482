/** Every function of the package sp800-22 with every wrong argument. */
import * as suite from '#sp800-22';
import {
  bits,
  bytes,
  type Callee,
  integer,
  nothing,
  number,
  optional,
  options,
  testWrongArguments,
} from '../support/lab/wrong-arguments.ts';

const {
  NIST_PARAMETERS,
  PValueTally,
  resolveParameters,
  runPackedSuite,
  Sha256,
  SmallestPValues,
  toAssessReport,
} = suite;

const BITS = Uint8Array.from(
  { length: 20_000 },
  (_, i) => ((i * i * 31 + (i >>> 3) * 77) >>> 4) & 1,
);
const BYTES = Uint8Array.from({ length: 200 }, (_, i) => (i * i * 31 + (i >>> 3) * 77) & 255);
const REPORT = runPackedSuite(BYTES);

const SUITE = {
  constants: nothing,
  only: emptyList(),
  parameters: options({}),
  supplements: emptyList(),
};

/** No test is a choice, too. */
function emptyList() {
  return { accepts: (value: unknown) => Array.isArray(value) && value.length === 0 };
}

const isProbability = (value: number): boolean => value >= 0 && value <= 1;
const parameters = { ...options({ templateM: integer(2, 16), serialM: integer(2, 24) }) };

function ofTest(call: (...args: never[]) => unknown, members = {}): Callee {
  const hasOptions = Object.keys(members).length > 0;
  return {
    call,
    args: hasOptions ? [BITS, {}] : [BITS],
    takes: hasOptions ? [bits, options(members)] : [bits],
  };
}

const TABLE: Readonly<Record<string, Callee>> = {
  SmallestPValues: {
    call: (...args) => new SmallestPValues(...args),
    args: [1],
    takes: [optional(integer(1))],
  },
  'SmallestPValues.add': {
    call: (entered: never) => new SmallestPValues().add(entered),
    args: [[{ test: 'runs', p: 0.5 }]],
    takes: [emptyList()],
  },
  sequencePValues: { call: suite.sequencePValues, args: [REPORT], takes: [nothing] },
  toAssessReport: { call: toAssessReport, args: [REPORT], takes: [nothing] },
  unpackBits: {
    call: suite.unpackBits,
    args: [BYTES, 8, 0],
    takes: [bytesOf(1), optional(integer(0, 1_600)), optional(integer(0, 1_592))],
  },
  grouped: { call: suite.grouped, args: [1], takes: [number((value) => !Number.isNaN(value))] },
  rowLabels: {
    call: suite.rowLabels,
    args: ['runs', 1_000, {}],
    takes: [nothing, integer(0), parameters],
  },
  adoptKernelModule: {
    call: suite.adoptKernelModule,
    args: [suite.kernelModule()],
    takes: [{ accepts: (value) => value === null }],
  },
  kernelBuild: { call: suite.kernelBuild, args: [], takes: [] },
  kernelModule: { call: suite.kernelModule, args: [], takes: [] },
  ready: {
    call: suite.ready,
    args: [{}],
    takes: [options({ kernels: options({ simd: bytes }) })],
  },
  runPackedSuite: {
    call: runPackedSuite,
    args: [BYTES, {}],
    takes: [bytes, options({ ...SUITE, bits: integer(0, 1_600), offsetBits: integer(0, 1_600) })],
  },
  runSuite: { call: suite.runSuite, args: [BITS, {}], takes: [emptyBytes(), options(SUITE)] },
  testLevelP: { call: suite.testLevelP, args: [[0.5]], takes: [nothing] },
  resolveParameters: {
    call: resolveParameters,
    args: [1_000, {}],
    takes: [integer(0), parameters],
  },
  minimumBits: {
    call: suite.minimumBits,
    args: ['runs', resolveParameters(1_000)],
    takes: [nothing, nothing],
  },
  supplementMinimumBits: {
    call: suite.supplementMinimumBits,
    args: ['spectral_peak'],
    takes: [nothing],
  },
  PValueTally: {
    call: (...args) => new PValueTally(...args),
    args: [['runs'], 1_000, NIST_PARAMETERS],
    takes: [optional(emptyList()), optional(integer(0)), parameters],
  },
  'PValueTally.add': {
    call: (report: never) => new PValueTally(suite.TEST_NAMES, 1_600).add(report),
    args: [REPORT],
    takes: [nothing],
  },
  judgeSecondLevel: {
    call: suite.judgeSecondLevel,
    args: [55, [], 1_000, {}, 'exact', 0.01],
    takes: [
      integer(0),
      emptyList(),
      integer(0),
      parameters,
      optional(nothing),
      optional(number(isProbability)),
    ],
  },
  fitProbability: {
    call: suite.fitProbability,
    args: [new Array(10).fill(6), { classes: new Array(10).fill(0.1) }],
    takes: [nothing, nothing],
  },
  proportionInterval: { call: suite.proportionInterval, args: [55], takes: [integer(1)] },
  proportionProbability: {
    call: suite.proportionProbability,
    args: [55, 55, 0.01],
    takes: [integer(0, 55), integer(55), optional(number(isProbability))],
  },
  uniformityPValue: {
    call: suite.uniformityPValue,
    args: [new Array(10).fill(6)],
    takes: [nothing],
  },
  Sha256: { call: () => new Sha256(), args: [], takes: [] },
  'Sha256.update': {
    call: (part: never) => new Sha256().update(part),
    args: [BYTES],
    takes: [bytes],
  },
  erfc: { call: suite.erfc, args: [1], takes: [number((value) => !Number.isNaN(value))] },
  igamc: {
    call: suite.igamc,
    args: [0.5, 1],
    takes: [number((a) => a > 0 && Number.isInteger(2 * a)), number((x) => x >= 0)],
  },
  approximateEntropy: ofTest(suite.approximateEntropy, { m: integer(1, 20) }),
  blockFrequency: ofTest(suite.blockFrequency, { M: integer(1, 20_000) }),
  cumulativeSums: ofTest(suite.cumulativeSums, { constants: nothing }),
  dft: ofTest(suite.dft, { constants: nothing }),
  fourierTransform: {
    call: suite.fourierTransform,
    args: [new Float64Array(3), new Float64Array(3), 2],
    takes: [
      { accepts: (value) => value instanceof Float64Array },
      { accepts: (value) => value instanceof Float64Array },
      integer(1, 3),
    ],
  },
  frequency: ofTest(suite.frequency),
  judgeFrequency: {
    call: suite.judgeFrequency,
    args: [100, 50],
    takes: [number((n) => n > 0 && n < Infinity), number(Number.isFinite)],
  },
  linearComplexity: ofTest(suite.linearComplexity, { M: integer(4, 20_000), constants: nothing }),
  longestRun: ofTest(suite.longestRun, { M: nothing, constants: nothing }),
  aperiodicTemplates: { call: suite.aperiodicTemplates, args: [3], takes: [integer(2, 21)] },
  nonOverlappingTemplate: ofTest(suite.nonOverlappingTemplate, {
    m: nothing,
    N: integer(1, 1_000),
    templates: emptyList(),
  }),
  overlappingTemplate: ofTest(suite.overlappingTemplate, {
    m: integer(1, 9),
    M: nothing,
    constants: nothing,
    pi: nothing,
  }),
  randomExcursions: ofTest(suite.randomExcursions),
  randomExcursionsVariant: ofTest(suite.randomExcursionsVariant),
  rank: ofTest(suite.rank, { M: integer(2, 32), probabilities: nothing }),
  runs: ofTest(suite.runs),
  serial: ofTest(suite.serial, { m: integer(2, 24) }),
  universal: ofTest(suite.universal, {
    L: integer(1, 5),
    Q: integer(1, 10),
    sigma: number((value) => value > 0),
  }),
  judgeLongStreams: {
    call: suite.judgeLongStreams,
    args: [[{ bits: 2 ** 20, results: [] }]],
    takes: [emptyList()],
  },
  runLongStream: {
    call: suite.runLongStream,
    args: [Uint8Array.from({ length: 2 ** 17 }, (_, i) => (i * i * 31 + (i >>> 3) * 77) & 255)],
    takes: [nothing],
  },
  complianceLevel: {
    call: suite.complianceLevel,
    args: [REPORT, { verdict: 'PASS' }],
    takes: [nothing, nothing],
  },
  gate: { call: suite.gate, args: [REPORT], takes: [nothing] },
  gatePValues: { call: suite.gatePValues, args: [REPORT], takes: [nothing] },
  grade: { call: suite.grade, args: [100], takes: [number((value) => value >= 0 && value <= 100)] },
  isOfGate: { call: suite.isOfGate, args: ['runs'], takes: [nothing] },
  score: { call: suite.score, args: [REPORT], takes: [nothing] },
};

function bytesOf(least: number) {
  return { accepts: (value: unknown) => value instanceof Uint8Array && value.length >= least };
}

/** No bits are a sequence, to which no test applies. */
function emptyBytes() {
  return { accepts: (value: unknown) => value instanceof Uint8Array && value.length === 0 };
}

testWrongArguments(suite, TABLE);
