/** Facts about the program that the build puts in (`scripts/build-page.ts`). */

declare const __PROGRAM__: string;
declare const __SOFTWARE__: string;

/** Name and version, as the reports have them. */
export const PROGRAM: string = __PROGRAM__;

/** The program's command. */
export const COMMAND: string = PROGRAM.replace(/ .*/, '');

/** Name of the program with the digest of its sources. */
export const SOFTWARE: string = __SOFTWARE__;
