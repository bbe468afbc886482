/**
 * Writes build/manifest.sha256, the digests of the program's own files, as the last step of a build that is installed elsewhere: a release,
 * an image. From then on a changed file keeps the server from starting.
 *
 *   node scripts/write-manifest.ts [FOLDER]
 */
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { manifestOf } from '../src/process/integrity.ts';

const root = resolve(process.argv[2] ?? '.');
const { path, text } = manifestOf(root);
writeFileSync(join(root, path), text);
process.stdout.write(`wrote ${path}\n`);
