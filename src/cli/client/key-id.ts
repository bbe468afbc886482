/** The key ID of a command. */
import { CommandError } from '#platform/commands';
import { isKeyId } from './batch/state.ts';

/** Throws `CommandError` for a text that is no key ID. It is not quoted: it may be a key. */
export function assertKeyId(text: string): void {
  if (isKeyId(text)) return;
  throw new CommandError('KEY_ID is phm_ and a number, such as the key_id of an answer', 2);
}
