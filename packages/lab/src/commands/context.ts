/** What a program gives to its commands that assess. */
import type { Output } from '../../../platform/src/commands/index.ts';
import type { Software } from '../report/trace.ts';

export interface LabContext extends Output {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The program's name, as help has it. */
  readonly name: string;
  /** How the user started the program. Messages name commands in this form. */
  readonly launcher: string;
  /** The user's mask of file permissions. The program's own may be stricter. */
  readonly umask: number;
  /** Path of the page of the test bench, which the program's build has made. */
  readonly page: string;
  /** Called for a report only, because it may have to read the program's files. */
  readonly software: () => Software;
}
