/** `nist_report`: the full report on the sample of one key. */
import type { TSchema } from 'typebox';
import {
  ALPHA,
  type AssessedTest,
  type AssessReport,
  GATE_ALPHA,
  type TestName as Name,
  type SuiteReport,
  toAssessReport,
} from '#sp800-22';
import {
  EVIDENCE_TESTS,
  evidenceLabels,
  STREAM_NAMES,
  STREAM_TESTS,
  type StreamName as Stream,
  type StreamReport,
} from '../../keys/index.ts';
import { Type } from './type.ts';

interface StreamTest extends AssessedTest {
  readonly stream: Stream;
}

/** The report of `phm assess --json` on one sequence, with the tests of the modulated stream and the gate's verdict. */
export interface NistReportBody extends AssessReport {
  readonly tests: readonly StreamTest[];
  readonly modulation_tests: readonly StreamTest[];
  readonly gate: {
    readonly p_value: number;
    readonly alpha: number;
    readonly tests: number;
    readonly weakest: { readonly stream: Stream; readonly name: Name };
    readonly verdict: 'PASS' | 'FAIL';
    readonly streams_judged: number;
  };
  readonly evidence_definition: number;
}

export function toNistReport(report: StreamReport): NistReportBody {
  const { carrier, modulated, gate, definition, streamsJudged } = report;
  return {
    ...toAssessReport(carrier),
    tests: testsOf('carrier', carrier),
    modulation_tests: modulated ? testsOf('modulated', modulated) : [],
    gate: {
      p_value: gate.p,
      alpha: GATE_ALPHA,
      tests: gate.tests,
      weakest: { stream: STREAM_NAMES[gate.weakest.report], name: gate.weakest.test },
      verdict: gate.verdict,
      streams_judged: streamsJudged,
    },
    evidence_definition: definition,
  };
}

function testsOf(stream: Stream, report: SuiteReport): StreamTest[] {
  return toAssessReport(report).tests.map(({ name, ...test }) => ({ name, stream, ...test }));
}

const MAX_P_VALUES = Math.max(...EVIDENCE_TESTS.map((name) => evidenceLabels(name).length));

const MAX_GATE_TESTS = EVIDENCE_TESTS.length + STREAM_TESTS.modulated.length;

const PValue = Type.Number({ minimum: 0, maximum: 1 });

const orNull = <T extends TSchema>(schema: T, description: string) =>
  Type.Union([schema, Type.Null()], { description });

const figures = (description: string) =>
  Type.Record(
    Type.String(),
    Type.Union([Type.Number(), Type.Boolean(), Type.Array(Type.Number())]),
    { description },
  );

export const TestName = Type.Enum(EVIDENCE_TESTS, {
  type: 'string',
  title: 'TestName',
  description: 'a test of SP 800-22',
});

export const StreamName = Type.Enum(STREAM_NAMES, {
  type: 'string',
  title: 'StreamName',
  description:
    "carrier: the generator's output before modulation; modulated: its output after modulation, from which keys are cut",
});

const Test = Type.Object(
  {
    name: TestName,
    stream: StreamName,
    applicable: Type.Boolean({ description: 'false if the sample does not meet its conditions' }),
    reason: Type.Optional(Type.String({ description: 'why the test does not apply' })),
    parameters: figures('parameters of the test, in the symbols of SP 800-22; pi: probabilities'),
    labels: Type.Array(Type.String({ maxLength: 16 }), {
      maxItems: MAX_P_VALUES,
      description: 'name of each p-value; empty if the test has only one',
    }),
    p_values: Type.Array(PValue, { maxItems: MAX_P_VALUES }),
    corrected_p: orNull(PValue, 'the smallest p-value, corrected for their number'),
    statistics: figures('counts and statistics of the test; no bits of the sample'),
    passed: orNull(Type.Boolean(), 'true if corrected_p is at least alpha; null if not applicable'),
  },
  {
    title: 'NistTest',
    examples: [
      {
        name: 'cumulative_sums',
        stream: 'carrier',
        applicable: true,
        parameters: {},
        labels: ['forward', 'reverse'],
        p_values: [0.7586146028386168, 0.8595844284218082],
        corrected_p: 0.9417330900372413,
        statistics: { z_forward: 882, z_reverse: 766 },
        passed: true,
      },
      {
        name: 'random_excursions',
        stream: 'carrier',
        applicable: false,
        reason: 'too few cycles: J = 214, needs at least 500',
        parameters: {},
        labels: [],
        p_values: [],
        corrected_p: null,
        statistics: {},
        passed: null,
      },
    ],
  },
);

export const NistReport = Type.Unsafe<NistReportBody>(
  Type.Object(
    {
      bits: Type.Integer({
        minimum: 1_000_000,
        description: 'n, the length of the sample: 2^20',
        examples: [2 ** 20],
      }),
      constants: Type.Enum(['exact', 'nist'], {
        type: 'string',
        description: 'class probabilities: exact ones, or those of the NIST program',
      }),
      alpha: Type.Number({ description: `significance level of one test: ${ALPHA}` }),
      tests: Type.Array(Test, {
        minItems: EVIDENCE_TESTS.length,
        maxItems: EVIDENCE_TESTS.length,
        description: "the suite on the carrier, the generator's output before modulation",
      }),
      tests_passed: Type.Integer({
        minimum: 0,
        maximum: EVIDENCE_TESTS.length,
        description: 'entries of "tests" that passed',
      }),
      total_tests: Type.Integer({
        minimum: 13,
        maximum: EVIDENCE_TESTS.length,
        description: 'entries of "tests" that are applicable',
      }),
      modulation_tests: Type.Array(Test, {
        maxItems: STREAM_TESTS.modulated.length,
        description:
          'quick tests on the modulated sample, which look for defects of the modulation and say nothing about the generator; empty with modulation_type none. They enter the gate and are not counted in tests_passed',
      }),
      gate: Type.Object(
        {
          p_value: PValue,
          alpha: Type.Number({ description: `FAIL below ${GATE_ALPHA}` }),
          tests: Type.Integer({
            minimum: 1,
            maximum: MAX_GATE_TESTS,
            description:
              'number of tests of both streams that enter; p_value is their smallest corrected_p times this number, at most 1',
          }),
          weakest: Type.Object(
            { stream: StreamName, name: TestName },
            {
              title: 'NistWeakestTest',
              description: 'the test with the smallest corrected_p among those that enter',
            },
          ),
          verdict: Type.Enum(['PASS', 'FAIL'], { type: 'string' }),
          streams_judged: Type.Integer({
            minimum: 1,
            description:
              'streams drawn for this key; all but the last failed the gate and were dropped whole',
          }),
        },
        {
          title: 'NistGate',
          description:
            "the verdict of this service's rule, which releases a key and certifies nothing",
          examples: [
            {
              p_value: 0.33109547078507195,
              alpha: 1e-6,
              tests: 17,
              weakest: { stream: 'carrier', name: 'rank' },
              verdict: 'PASS',
              streams_judged: 1,
            },
          ],
        },
      ),
      evidence_definition: Type.Integer({
        minimum: 1,
        maximum: 1_000,
        description:
          "version of the definition of the tests and the gate; with it, the report can be checked against evidence.digest of the key's receipt",
      }),
    },
    {
      title: 'NistReport',
      description:
        "Full SP 800-22 report on 2^20 bits of the generator's output before modulation: nine segments after a reseed each, of which the last reseed is that of this key. The service stores only the p-values.",
    },
  ),
);
