/** Tables of the tests of each stream, in groups. A test with several p-values expands to show each. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { NistReport } from '../api.ts';
import { ScrollRegion } from '../components/data-table.tsx';
import { Strip } from '../components/strip.tsx';
import { count, pValue } from '../format.ts';
import { groupByTest, MODULATION_TEXT, type TestGroup, testText } from '../tests.ts';

type Test = NistReport['tests'][number];

export function TestTables({ report }: { report: NistReport }) {
  const { tests, modulation_tests: modulationTests, alpha } = report;
  return (
    <>
      <TestTable
        id="carrier-tests"
        title="The generator’s output"
        groups={groupByTest(tests, ({ name }) => name)}
        alpha={alpha}
      >
        The 15 tests judge it before modulation. A p-value is the probability that a sound source
        gives a sample at least this unusual by that one measure. A test with several p-values is
        judged by the smallest, corrected for their number.
      </TestTable>
      {modulationTests.length > 0 && (
        <TestTable
          id="modulation-tests"
          title={MODULATION_TEXT.title}
          groups={[{ title: '', items: modulationTests }]}
          alpha={alpha}
        >
          {MODULATION_TEXT.purpose} They enter the gate but are not among the 15. By chance, one of
          them is below 1&nbsp;% in about one of 25 sound samples.
        </TestTable>
      )}
    </>
  );
}

interface TestTableProps {
  readonly id: string;
  readonly title: string;
  readonly groups: readonly TestGroup<Test>[];
  readonly alpha: number;
  readonly children: ComponentChildren;
}

function TestTable({ id, title, groups, alpha, children }: TestTableProps) {
  return (
    <section class="panel" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      <p>{children}</p>
      <table class="tests one-key" aria-labelledby={id}>
        <thead>
          <tr>
            <th scope="col">Test</th>
            <th scope="col" class="wide">
              p-values, 0 to 1
            </th>
            <th scope="col" class="number">
              p
            </th>
            <th scope="col">Result</th>
          </tr>
        </thead>
        {groups.map(({ title: group, items }) => (
          <tbody key={group}>
            {group && (
              <tr class="group">
                <th scope="rowgroup" colSpan={4}>
                  {group}
                </th>
              </tr>
            )}
            {items.map((test) => (
              <TestRows key={test.name} test={test} alpha={alpha} />
            ))}
          </tbody>
        ))}
      </table>
    </section>
  );
}

function TestRows({ test, alpha }: { test: Test; alpha: number }) {
  const [isOpen, setOpen] = useState(false);
  const { title, section, detects } = testText(test.name);
  const values = test.p_values;
  const isMany = values.length > 1;
  return (
    <>
      <tr>
        <th scope="row">
          <div class="named">
            {isMany ? (
              <button
                type="button"
                class="opener"
                aria-expanded={isOpen}
                onClick={() => setOpen(!isOpen)}
              >
                {title}
                <span class="note"> {count(values.length)}</span>
                <span class="unseen"> p-values</span>
              </button>
            ) : (
              <span class="opener">{title}</span>
            )}
            <span class="note detects">
              {detects}
              {section && ` ·\u00a0§${section}`}
              {!test.applicable && `; ${test.reason}`}
            </span>
          </div>
        </th>
        <td class="wide">
          {test.applicable && <Strip values={values} isOdd={(p) => p < alpha} />}
        </td>
        <td class="number">
          {isMany && <span class="note">smallest {pValue(Math.min(...values))} </span>}
          {test.corrected_p === null ? '–' : pValue(test.corrected_p)}
        </td>
        <td>
          <Result test={test} />
        </td>
      </tr>
      {isOpen && (
        <tr class="inner">
          <td colSpan={4}>
            <ScrollRegion label={`p-values of ${title}`}>
              <ul class="p-values">
                {values.map((p, i) => (
                  <li key={test.labels[i]} class={p < alpha ? 'odd' : undefined}>
                    <code>{test.labels[i]}</code> {pValue(p)}
                  </li>
                ))}
              </ul>
            </ScrollRegion>
          </td>
        </tr>
      )}
    </>
  );
}

function Result({ test }: { test: Test }) {
  if (!test.applicable) {
    return <span class="state">not applicable</span>;
  }
  return test.passed ? (
    <span class="state good">
      <span aria-hidden="true">✓</span> passed
    </span>
  ) : (
    <span class="state bad">
      <span aria-hidden="true">!</span> below 1&nbsp;%
    </span>
  );
}
