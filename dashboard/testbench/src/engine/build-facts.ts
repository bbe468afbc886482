/** Facts about the program that the build puts in (scripts/build-testbench.ts). */

declare const __PROGRAM__: string;
declare const __SOFTWARE__: string;

/** Name and version, as `phm assess` writes them. */
export const PROGRAM: string = __PROGRAM__;

/** Name of the program with the digest of its sources. */
export const SOFTWARE: string = __SOFTWARE__;
