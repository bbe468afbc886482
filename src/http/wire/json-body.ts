/** JSON bodies: I-JSON (RFC 7493) in UTF-8. Bodies hold keys, so no error quotes a body. */
import { isUtf8 } from 'node:buffer';
import { MIMEType } from 'node:util';
import type { FastifyInstance } from 'fastify';
import { AppError } from '../../errors.ts';
import { quoteName } from './field-names.ts';
import { findJsonFault, type JsonFault } from './json-fault.ts';
import { readBody } from './read-body.ts';

/** Replaces the framework's parser, which accepts repeated names and wrong encodings. */
export function parseJsonBodies(app: FastifyInstance, limitBytes: number): void {
  app.addContentTypeParser('application/json', ({ headers }, payload, done) => {
    readBody(payload, limitBytes, (error, body) => {
      if (error) done(error);
      else deliver(headers['content-type'] ?? '', body, done);
    });
  });
}

/** Passes on the value of a body, or the error. */
function deliver(
  contentType: string,
  body: Buffer,
  done: (error: Error | null, value?: unknown) => void,
): void {
  let value: unknown;
  try {
    requireUtf8(contentType);
    value = parseJson(body);
  } catch (error) {
    done(error as Error);
    return;
  }
  done(null, value);
}

/** Parses a body; returns undefined for an empty one. Throws `malformed_json`. */
export function parseJson(body: Buffer): unknown {
  if (!isUtf8(body)) throw new AppError('malformed_json', { detail: 'The body is not UTF-8.' });
  // RFC 8259 §8.1: a parser may ignore a byte order mark. Editors on Windows write one.
  const text = body.toString('utf8').replace(/^\ufeff/, '');
  if (/^[ \t\n\r]*$/.test(text)) return undefined;
  const fault = findJsonFault(text);
  if (fault) throw new AppError('malformed_json', describe(fault));
  return JSON.parse(text);
}

function describe({ what, line, column, repeated }: JsonFault) {
  const place = `line ${line}, column ${column}`;
  if (repeated === undefined) {
    return { detail: `The body is not valid JSON. At ${place}: ${what}.` };
  }
  return {
    detail: `The body has the name ${quoteName(repeated)} twice in one object; the second is at ${place}.`,
    remedy: 'Send each name once.',
  };
}

/** Returns the charset; UTF-8 if there is none (RFC 8259 §8.1), and an empty string if the header is malformed. */
function charsetOf(contentType: string): string {
  try {
    return new MIMEType(contentType).params.get('charset') ?? 'utf-8';
  } catch {
    return '';
  }
}

/** Throws `unsupported_media_type` for a charset other than UTF-8. */
function requireUtf8(contentType: string): void {
  if (contentType === 'application/json' || /^utf-?8$/i.test(charsetOf(contentType))) return;
  throw new AppError('unsupported_media_type', {
    detail: 'The charset in Content-Type is not UTF-8.',
    remedy: 'Encode the body as UTF-8 and omit the charset.',
  });
}
