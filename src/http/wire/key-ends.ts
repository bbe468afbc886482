/** Labels and expiry of a request for keys. */
import { canonicalJson } from '#tlog';
import { formatTimestamp } from '../../clock.ts';
import { AppError, type FieldError } from '../../errors.ts';
import {
  isLabelName,
  isLabelValue,
  LABEL_NAME,
  LABEL_VALUE,
  MAX_LABELS,
} from '../../keys/index.ts';
import { bodyPointer } from './field-names.ts';
import { parseTimestamp } from './timestamp.ts';

/** Fields of a body that say what a key is called, and when its use ends. */
interface EndFields {
  readonly labels?: Readonly<Record<string, string>> | null;
  readonly expires_at?: string | null;
}

/** Both as the ledger keeps them. */
interface KeyEnds {
  /** Canonical JSON; null without labels. */
  readonly labels: string | null;
  readonly expiresMs: number | null;
}

/**
 * Reads both fields. Throws `invalid_request` with all problems. The time may be in the past: a repeated request is answered
 * all the same.
 */
export function readEnds({ labels, expires_at: expiresAt }: EndFields): KeyEnds {
  const fields = labels ? labelProblems(labels) : [];
  const expiresMs = typeof expiresAt === 'string' ? parseTimestamp(expiresAt) : null;
  if (expiresMs === undefined) {
    fields.push({
      pointer: '#/expires_at',
      message:
        'must be a date-time with its offset (RFC 3339), such as 2027-01-31T12:00:00Z, before the year 10000',
    });
  }
  if (fields.length > 0 || expiresMs === undefined)
    throw new AppError('invalid_request', { fields });
  const hasLabels = labels !== undefined && labels !== null && Object.keys(labels).length > 0;
  return { labels: hasLabels ? canonicalJson({ ...labels }) : null, expiresMs };
}

/** Returns the error for a new key whose time is up by `nowMs`. */
export function alreadyExpired(nowMs: number): AppError {
  const message = `must be in the future; by the server's clock it is ${formatTimestamp(nowMs)}`;
  return new AppError('invalid_request', { fields: [{ pointer: '#/expires_at', message }] });
}

function labelProblems(labels: Readonly<Record<string, string>>): FieldError[] {
  const all = Object.entries(labels);
  const problems = all.flatMap(([name, value]) => {
    const pointer = bodyPointer(name, 'labels');
    if (!isLabelName(name)) return [{ pointer, message: `must have a name of ${LABEL_NAME}` }];
    return isLabelValue(value) ? [] : [{ pointer, message: `must be ${LABEL_VALUE}` }];
  });
  if (all.length <= MAX_LABELS) return problems.slice(0, MAX_LABELS);
  return [
    { pointer: '#/labels', message: `must have at most ${MAX_LABELS} labels; got ${all.length}` },
  ];
}
