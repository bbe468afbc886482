/** A response of generate with its receipt, and the policy of its log. A server that no longer exists sent both. */
import { readFileSync } from 'node:fs';
import type { GeneratedKeyResponse } from '../wire/key-schemas.ts';
import type { ReceiptBody } from '../wire/receipt-schemas.ts';

const FOLDER = new URL('../../../docs/examples/receipt/', import.meta.url);

const read = (name: string): string => readFileSync(new URL(name, FOLDER), 'utf8');

export const POLICY: string = read('policy.txt');

export const RECEIPTED_KEY = JSON.parse(read('generated.json')) as GeneratedKeyResponse & {
  readonly receipt: ReceiptBody;
  readonly opening: string;
};

export const RECEIPT: ReceiptBody = RECEIPTED_KEY.receipt;

/** The checkpoint of the receipt: the part of the proof after the first empty line (c2sp.org/tlog-proof). */
export const CHECKPOINT: string = RECEIPT.proof.slice(RECEIPT.proof.indexOf('\n\n') + 2);
