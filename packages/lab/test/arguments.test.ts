/** Every function of the package phm-lab with every wrong argument. `assess` and `openReader` have files of their own. */
import {
  type Callee,
  integer,
  nothing,
  number,
  optional,
  options,
  testWrongArguments,
} from '../../../test/support/lab/wrong-arguments.ts';
import { runPackedSuite, TEST_NAMES } from '../../sp800-22/src/index-node.ts';
import {
  assessConditioned,
  assessNonIid,
  type IidAssessment,
  type IidRestartAssessment,
  type RestartAssessment,
} from '../../sp800-90b/src/index.ts';
import * as lab from '../src/index-node.ts';

const BYTES = Uint8Array.from({ length: 250 }, (_, i) => (i * i * 31 + (i >>> 3) * 77) & 255);
const SAMPLES = BYTES.map((byte) => byte & 3);
const REPORT = runPackedSuite(BYTES);
const ASSESSMENT = assessNonIid(SAMPLES);
const CONDITIONED = assessConditioned(SAMPLES);
const { summary: SUMMARY, trace: TRACE } = await lab.assess(BYTES, { bits: 500, workers: 0 });
const FINISHED = { sequences: 4, complete: true };

const ENTROPY_TRACE = lab.entropyTrace({
  report: {},
  input: {
    ...{ name: 'a', size: 250, bytes: 250, bytes_sha256: 'aa', format: 'binary', samples: 250 },
    ...{ sha256: 'aa', subset: null, packed: false, program: 'p' },
  },
  flags: {},
  build: 'b',
  created: 'now',
});

const isText = { accepts: (value: unknown) => typeof value === 'string' };
const isFlag = { accepts: (value: unknown) => typeof value === 'boolean' };
const isFunction = { accepts: (value: unknown) => typeof value === 'function' };
/** Few bytes are another error. */
const areBytes = {
  accepts: (value: unknown) =>
    value instanceof Uint8Array || value instanceof ArrayBuffer || value instanceof DataView,
};
const isBytes = { accepts: (value: unknown) => value instanceof Uint8Array };
const isObject = {
  accepts: (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value),
};
const emptyList = { accepts: (value: unknown) => Array.isArray(value) && value.length === 0 };
const texts = {
  accepts: (value: unknown) =>
    Array.isArray(value) && [...value].every((one) => typeof one === 'string'),
};
const figure = number((value) => value >= 0 && value < Infinity);

/** Its tests take a minute, and its texts need all of them: only wrong arguments are tried. */
function onlyWrong(call: (...args: never[]) => unknown, args: readonly unknown[]): Callee {
  const isRight = (given: readonly unknown[]): boolean => given.every((one, i) => one === args[i]);
  return {
    call: (...given) => (given.length === args.length && isRight(given) ? null : call(...given)),
    args,
    takes: args.map(() => nothing),
  };
}

const IID = {} as IidAssessment;
const RESTART = {} as RestartAssessment;
const IID_RESTART = {} as IidRestartAssessment;

const TABLE: Readonly<Record<string, Callee>> = {
  assess: {
    call: (source: never) => lab.assess(source, { bits: 100, workers: 0, format: 'binary' }),
    args: [BYTES],
    takes: [areBytes],
  },
  openReader: {
    call: lab.openReader,
    args: [BYTES, 'binary', {}],
    takes: [
      areBytes,
      optional(nothing),
      options({ neededBytes: integer(0), accepts: isFunction, isSpread: isFlag }),
    ],
  },
  AssessError: { call: () => new lab.AssessError('empty', 'none'), args: [], takes: [] },
  Doubling: {
    call: (tests: never) => new lab.Doubling(tests),
    args: [TEST_NAMES],
    takes: [emptyList],
  },
  'Doubling.add': {
    call: (report: never) => new lab.Doubling(TEST_NAMES).add(report),
    args: [REPORT],
    takes: [nothing],
  },
  formWarning: {
    call: lab.formWarning,
    args: ['a', { says: 'is b' }, false],
    takes: [isText, nothing, isFlag],
  },
  nonIidReport: {
    call: lab.nonIidReport,
    args: [ASSESSMENT, 1],
    takes: [nothing, optional(figure)],
  },
  conditionedReport: { call: lab.conditionedReport, args: [CONDITIONED], takes: [nothing] },
  restartReport: onlyWrong(lab.restartReport, [RESTART]),
  iidReport: onlyWrong(lab.iidReport, [IID]),
  iidRestartReport: onlyWrong(lab.iidRestartReport, [IID_RESTART]),
  entropyForms: {
    call: lab.entropyForms,
    args: [ENTROPY_TRACE, lab.nonIidReport(ASSESSMENT), []],
    takes: [nothing, nothing, texts],
  },
  fewPairsWarning: { call: lab.fewPairsWarning, args: [SAMPLES], takes: [isBytes] },
  tooFewWarning: { call: lab.tooFewWarning, args: [1], takes: [integer(0)] },
  estimatorText: {
    call: lab.estimatorText,
    args: [{ estimator: 'lag', input: 'bits', finished: 0, total: 10 }],
    takes: [nothing],
  },
  entropyTrace: {
    call: lab.entropyTrace,
    args: [{ ...ENTROPY_TRACE, flags: {}, build: 'b' }],
    takes: [nothing],
  },
  guessFormat: { call: lab.guessFormat, args: [BYTES], takes: [isBytes] },
  recogniseForm: { call: lab.recogniseForm, args: [BYTES], takes: [isBytes] },
  refuseForm: {
    call: lab.refuseForm,
    args: [BYTES, {}],
    takes: [isBytes, optional(isObject)],
  },
  skipBits: {
    call: lab.skipBits,
    args: [lab.openReader(BYTES, 'binary'), 8],
    takes: [nothing, integer(0)],
  },
  TextBitReader: {
    call: (format: never) => new lab.TextBitReader(format),
    args: ['hex'],
    takes: [nothing],
  },
  'TextBitReader.feed': {
    call: (chunk: never) => new lab.TextBitReader('hex').feed(chunk),
    args: [BYTES],
    takes: [isBytes],
  },
  'TextBitReader.read': {
    call: (into: never, from: never, to: never) =>
      new lab.TextBitReader('hex').read(into, from, to),
    args: [new Uint8Array(8), 0, 64],
    takes: [nothing, integer(0, 64), integer(0, 64)],
  },
  Markup: { call: () => lab.markup``, args: [], takes: [] },
  markup: {
    call: (content: never) => lab.markup`${content}`,
    args: ['a'],
    takes: [
      {
        accepts: (value) =>
          ['string', 'number'].includes(typeof value) ||
          (Array.isArray(value) && value.every((one) => ['string', 'number'].includes(typeof one))),
      },
    ],
  },
  HtmlOutput: {
    call: (head: never, write: never) => new lab.HtmlOutput(head, write),
    args: [{ input: 'a', program: 'p', constants: 'exact' }, () => {}],
    takes: [nothing, isFunction],
  },
  checkFields: { call: lab.checkFields, args: [{ note: 'n' }], takes: [isObject] },
  formatNistReport: {
    call: lab.formatNistReport,
    args: ['a', SUMMARY.rows],
    takes: [isText, emptyList],
  },
  makeOutput: {
    call: lab.makeOutput,
    args: ['json', () => {}, () => TRACE],
    takes: [nothing, isFunction, optional(isFunction)],
  },
  hasFailed: { call: lab.hasFailed, args: [SUMMARY], takes: [nothing] },
  RunCounts: {
    call: (tests: never, offset: never) => new lab.RunCounts(tests, offset),
    args: [TEST_NAMES, 0],
    takes: [emptyList, optional(integer(0))],
  },
  'RunCounts.add': {
    call: (report: never) => new lab.RunCounts(TEST_NAMES).add(report),
    args: [REPORT],
    takes: [nothing],
  },
  textOf: { call: lab.textOf, args: [[['a']]], takes: [emptyList] },
  createdText: {
    call: lab.createdText,
    args: [0],
    takes: [optional(number((value) => Math.abs(value) <= 8.64e15))],
  },
  traceJson: {
    call: lab.traceJson,
    args: [TRACE, REPORT, FINISHED],
    takes: [nothing, nothing, nothing],
  },
  traceRows: {
    call: lab.traceRows,
    args: [TRACE, REPORT, FINISHED],
    takes: [nothing, nothing, nothing],
  },
};

testWrongArguments(lab, TABLE);
