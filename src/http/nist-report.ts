/** `nist_report`: the full report on the sample of one key, as `include` asks for it. */
import Type from 'typebox';
import { STREAM_LABELS, type StreamReport } from '../keys/index.ts';
import { ALPHA, type AssessReport, GATE_ALPHA, TEST_NAMES, toAssessReport } from '../sts/index.ts';

/** The shape of `phm assess --json` on one sequence, and the gate's verdict. */
export interface NistReportBody extends AssessReport {
  readonly gate: {
    readonly p_value: number;
    readonly alpha: number;
    readonly verdict: 'PASS' | 'FAIL';
    readonly streams_judged: number;
  };
}

export function toNistReport({ suite, gate, streamsJudged }: StreamReport): NistReportBody {
  return {
    ...toAssessReport(suite, STREAM_LABELS),
    gate: {
      p_value: gate.p,
      alpha: GATE_ALPHA,
      verdict: gate.verdict,
      streams_judged: streamsJudged,
    },
  };
}

const MOST_P_VALUES = Math.max(...Object.values(STREAM_LABELS).map(({ length }) => length));

const PValue = Type.Number({ minimum: 0, maximum: 1 });

const orNull = <T extends Type.TSchema>(schema: T, description: string) =>
  Type.Union([schema, Type.Null()], { description });

const figures = (description: string) =>
  Type.Record(
    Type.String(),
    Type.Union([Type.Number(), Type.Boolean(), Type.Array(Type.Number())]),
    { description },
  );

export const TestName = Type.Enum(TEST_NAMES, {
  type: 'string',
  title: 'TestName',
  description: 'a test of SP 800-22',
});

const Test = Type.Object(
  {
    name: TestName,
    applicable: Type.Boolean({ description: 'false when the sample does not meet its conditions' }),
    reason: Type.Optional(Type.String({ description: 'why the test does not apply' })),
    parameters: figures('what the test was set to, in the symbols of SP 800-22; pi: probabilities'),
    labels: Type.Array(Type.String({ maxLength: 16 }), {
      maxItems: MOST_P_VALUES,
      description: 'what each p-value is about; empty text where a test has one',
    }),
    p_values: Type.Array(PValue, { maxItems: MOST_P_VALUES }),
    corrected_p: orNull(PValue, 'the smallest p-value, corrected for their number'),
    statistics: figures('what was counted; no bits of the sample'),
    passed: orNull(Type.Boolean(), 'corrected_p is at least alpha; null when not applicable'),
  },
  {
    title: 'NistTest',
    examples: [
      {
        name: 'cumulative_sums',
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
        description: 'set of class probabilities: exact ones, or those of the NIST program',
      }),
      alpha: Type.Number({ description: `significance level of one test: ${ALPHA}` }),
      tests: Type.Array(Test, { minItems: TEST_NAMES.length, maxItems: TEST_NAMES.length }),
      tests_passed: Type.Integer({ minimum: 0, maximum: TEST_NAMES.length }),
      total_tests: Type.Integer({ minimum: 13, maximum: TEST_NAMES.length }),
      gate: Type.Object(
        {
          p_value: PValue,
          alpha: Type.Number({ description: `FAIL below ${GATE_ALPHA}` }),
          verdict: Type.Enum(['PASS', 'FAIL'], { type: 'string' }),
          streams_judged: Type.Integer({
            minimum: 1,
            description:
              'streams drawn for this key; all but the last failed the gate and were dropped whole',
          }),
        },
        { title: 'NistGate', description: 'the verdict that releases a key' },
      ),
    },
    {
      title: 'NistReport',
      description:
        'Full SP 800-22 report on the sample of the stream this key is cut from. Its p-values are kept, the rest is not stored.',
    },
  ),
);
