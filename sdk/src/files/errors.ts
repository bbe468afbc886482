/** Errors of encrypted files. No message quotes a key or content. */

/**
 * - `not_encrypted_file`: it does not begin as an encrypted file does.
 * - `unsupported_version`: a later version of the client wrote it.
 * - `wrong_recipient`: its key is sealed to another recipient.
 * - `key_does_not_open`: its sealed key was altered, or has another length than 256 bits.
 * - `damaged`: a part was altered, moved, or cut.
 * - `truncated`: its end is missing.
 * - `output_exists`: the output is there already, and `overwrite` was not given or it is not a regular file.
 */
export type EncryptedFileErrorCode =
  | 'not_encrypted_file'
  | 'unsupported_version'
  | 'wrong_recipient'
  | 'key_does_not_open'
  | 'damaged'
  | 'truncated'
  | 'output_exists';

/** A file that cannot be encrypted, decrypted or resealed. The message says what to do. Decide by `code`. */
export class EncryptedFileError extends Error {
  override readonly name = 'EncryptedFileError';
  readonly code: EncryptedFileErrorCode;

  constructor(code: EncryptedFileErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
