/** Shows the report that the page also saves as HTML, and the files of a run. */
import type { RunResult } from '../engine/messages.ts';
import { download, element, pause } from './dom.ts';
import { rasterSection } from './raster.ts';

/** Sections of the report that are pictures. */
const PICTURES: readonly string[] = ['source', 'distribution', 'pictures'];

/** Fills `results`, section by section, so that the page answers between them. Stops when `isObsolete` says so. */
export async function showReport(
  results: HTMLElement,
  { files, head, ended }: RunResult,
  name: string,
  isObsolete: () => boolean,
): Promise<void> {
  if (isObsolete()) return;
  results.append(filesSection(files, name, ended));
  const page = readReport(await files.html.text());
  for (const section of inOrder([...page.querySelectorAll('main > *')], rasterSection(head))) {
    await pause();
    if (isObsolete()) return;
    results.append(document.adoptNode(section));
  }
}

/** Returns the verdict first, then the pictures, and then what explains and proves them, which the saved HTML begins with. */
function inOrder(sections: readonly Element[], raster: Element): Element[] {
  const isFirst = ({ id }: Element) => id === 'verdict';
  const isPicture = ({ id }: Element) => PICTURES.includes(id);
  return [
    ...sections.filter(isFirst),
    ...sections.filter(isPicture),
    raster,
    ...sections.filter((section) => !isFirst(section) && !isPicture(section)),
  ];
}

function filesSection(files: RunResult['files'], name: string, ended: string | null): HTMLElement {
  return element(
    'section',
    { id: 'files' },
    element('h2', { tabindex: -1 }, `Report on ${name}`),
    ...(ended === null
      ? []
      : [
          element(
            'p',
            { class: 'problem' },
            `Ended early: ${ended}. The report covers the finished part.`,
          ),
        ]),
    element(
      'div',
      { class: 'buttons' },
      download(files.html, `${name}.html`, 'Save HTML'),
      download(files.json, `${name}.json`, 'Save JSON'),
      download(files.csv, `${name}.csv`, 'Save CSV'),
      download(files.text, `${name}.txt`, 'Save text'),
    ),
  );
}

/** Parses the report. Styles of elements become data, because the page's policy allows no other styles than its own. */
function readReport(html: string): Document {
  const main = html.slice(html.indexOf('<main>'), html.indexOf('</main>'));
  const page = new DOMParser().parseFromString(
    main.replaceAll(' style="', ' data-style="'),
    'text/html',
  );
  for (const styled of page.querySelectorAll<HTMLElement>('[data-style]')) {
    styled.style.cssText = styled.dataset.style ?? '';
    delete styled.dataset.style;
  }
  // Tables that scroll must be within reach of the keyboard.
  for (const table of page.querySelectorAll<HTMLElement>('.scroll')) table.tabIndex = 0;
  return page;
}
