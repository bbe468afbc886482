/** Compares the statement of a receipt with a sealed key that was opened. */
import {
  type Delivery,
  KEY_STATEMENT,
  type KeyStatement,
  statedRecipients,
} from '../receipt/tlog.ts';
import { list } from '../receipt/verdict.ts';
import { headerRecipients, SEALED_KEY, type SealHeader } from './formats.ts';

/** Members that statement and header share. */
const SHARED = ['key_id', 'service', 'time', 'security_level', 'key_commitment'] as const;

/** Returns why a receipt is not of a sealed key with this header and digest; undefined if it is. */
export function bindingProblem(
  statement: KeyStatement,
  header: SealHeader,
  digest: string,
): string | undefined {
  const other = SHARED.find((name) => statement[name] !== header[name]);
  if (other !== undefined) {
    return `The receipt is of another key: its ${other} is ${statement[other]}, and the one of the sealed key is ${header[other]}.`;
  }
  return (
    recipientsMismatch(statement, header) ??
    deliveryMismatch(statement, header) ??
    digestMismatch(statement, header, digest)
  );
}

function recipientsMismatch(statement: KeyStatement, header: SealHeader): string | undefined {
  const stated = statedRecipients(statement);
  const own = headerRecipients(header);
  if (stated.length === 0) return 'The receipt is of a key that was not sealed.';
  if (stated.length === own.length && stated.every((one, i) => one === own[i])) return undefined;
  if (statement.type === KEY_STATEMENT && header.type === SEALED_KEY) {
    return `The receipt names another recipient: its sealed_to is ${statement.sealed_to}, and your thumbprint is ${header.thumbprint}.`;
  }
  return `The receipt names other recipients: ${list(stated)}. The sealed key names ${list(own)}.`;
}

function deliveryMismatch(statement: KeyStatement, header: SealHeader): string | undefined {
  const stated = statement.type === KEY_STATEMENT ? null : statement.delivery;
  const own = header.type === SEALED_KEY ? null : header.delivery;
  if (stated?.id === own?.id && stated?.context === own?.context) return undefined;
  return `The receipt names another delivery: ${described(stated)}. The sealed key names ${described(own)}.`;
}

function described(delivery: Delivery | null): string {
  if (delivery === null) return 'none';
  return delivery.context === null ? delivery.id : `${delivery.id} with ${delivery.context}`;
}

function digestMismatch(
  statement: KeyStatement,
  header: SealHeader,
  digest: string,
): string | undefined {
  if (statement.type === KEY_STATEMENT) {
    return statement.sealed_digest === digest
      ? undefined
      : 'The receipt is of another ciphertext: its sealed_digest is not the one of this sealed key.';
  }
  const own = statement.sealed.find(({ to }) => to === header.thumbprint);
  return own?.digest === digest
    ? undefined
    : 'The receipt is of another ciphertext: its digest for you is not the one of this sealed key.';
}
