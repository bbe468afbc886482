/**
 * The lists of what the service consists of, by `npm sbom` from the lock file: for all platforms, whatever is
 * installed here. npm puts the time and a random identifier into each. Here the time is the commit's, and the
 * identifier begins the SHA-256 of the list.
 *
 * The first list has what the service runs on. The second has the development packages too: the build copies some of
 * them into the dashboard and the pages at `/docs`.
 */
import { hash } from 'node:crypto';
import type { Artefact } from './archives.ts';
import type { Tree } from './tree.ts';

const LISTS = [
  { suffix: '', omit: ['--omit=dev'] },
  { suffix: '-with-build', omit: [] },
] as const;

const FORMATS = { cyclonedx: 'cdx', spdx: 'spdx' } as const;

/** Where each format has the time and the random identifier. */
const TIME = /("(?:timestamp|created)": )"[^"]*"/;
const IDENTIFIER =
  /(?<=urn:uuid:|"documentNamespace": "[^"]*-)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/;

export function sboms(tree: Tree, version: string): Artefact[] {
  return LISTS.flatMap(({ suffix, omit }) =>
    Object.entries(FORMATS).map(([format, extension]) => {
      const args = ['sbom', '--package-lock-only', `--sbom-format=${format}`, ...omit];
      const text = normalise(tree.run('npm', args), tree.time);
      const file = `phm-key-service-${version}${suffix}.${extension}.json`;
      return { file, bytes: Buffer.from(text) };
    }),
  );
}

/** Replaces the time, and the identifier by a version 8 UUID (RFC 9562 §5.8) of the list's digest. */
export function normalise(text: string, time: number): string {
  // SPDX 2.3 §6.9 has no fractions of a second.
  const date = new Date(time * 1000).toISOString().replace('.000Z', 'Z');
  if (!TIME.test(text) || !IDENTIFIER.test(text)) {
    throw new Error('npm sbom prints no time or no identifier where this script knows it');
  }
  const dated = text.replace(TIME, `$1"${date}"`);
  const digest = hash('sha256', dated.replace(IDENTIFIER, ''));
  const [a, b, c, d, e] = [
    [0, 8],
    [8, 12],
    [13, 16],
    [17, 20],
    [20, 32],
  ].map(([from, to]) => digest.slice(from, to));
  return dated.replace(IDENTIFIER, `${a}-${b}-8${c}-8${d}-${e}`);
}
