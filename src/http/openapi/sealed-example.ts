/**
 * A sealed response with its receipt, and its recipient. The private key and the policy are in the same folder, and public.
 * A server that no longer exists sent it.
 */
import { readFileSync } from 'node:fs';
import type { Static } from 'typebox';
import type { GeneratedSealedKey, SealToBody } from '../wire/sealed-schemas.ts';

const FOLDER = new URL('../../../docs/examples/sealed/', import.meta.url);

const read = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(name, FOLDER), 'utf8')) as unknown;

export const SEALED_KEY = read('generated.json') as Static<typeof GeneratedSealedKey> &
  Required<Pick<Static<typeof GeneratedSealedKey>, 'sealed_key'>>;

/** The file of the recipient, as `phm recipient new` writes it. */
export const SEAL_TO = read('demo.recipient') as SealToBody;
