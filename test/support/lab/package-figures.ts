/** Tests that an installed package gives the figures of the service on each Node and in each browser. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { BROWSERS, runInBrowser } from '../browsers/browser-page.ts';
import { findNode20 } from '../programs/node-20.ts';
import { assertSameText } from './same-text.ts';

interface PackageFigures {
  /** Folder of a project that has the package, and the input as `sample.bin`. */
  readonly project: string;
  readonly name: string;
  /** Path of the module of the package below its `dist`. */
  readonly module: string;
  /** Returns a program that sets `body` to the figures of `sample`, an expression with the bytes of the input. */
  readonly program: (sample: string) => string;
  readonly expected: string;
}

const ON_NODE = "(await import('node:fs')).readFileSync('sample.bin')";
const IN_BROWSER = "new Uint8Array(await (await fetch('/sample.bin')).arrayBuffer())";

export function testFigures({ project, name, module, program, expected }: PackageFigures): void {
  for (const [version, node] of [
    [26, process.execPath],
    [20, findNode20()],
  ] as const) {
    const skip = node === undefined && 'there is none';
    it(`gives the figures of the service on Node ${version}`, { skip }, () => {
      const script = `let body;${program(ON_NODE)}process.stdout.write(body);`;
      writeFileSync(join(project, 'script.mjs'), script);
      const options = { cwd: project, encoding: 'utf8' } as const;
      assertSameText(execFileSync(node ?? '', ['script.mjs'], options), expected, 'the result');
    });
  }
  const imports = { [name]: `/node_modules/${name}/dist/${module}` };
  for (const browser of BROWSERS) {
    const skip = browser.path === undefined && 'there is none';
    it(`gives the figures of the service in ${browser.name}`, { skip }, async () => {
      const body = await runInBrowser(browser, project, imports, program(IN_BROWSER));
      assertSameText(body, expected, 'the result');
    });
  }
}
