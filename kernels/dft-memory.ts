/** Where the transforms keep their tables and their scratch memory. */
import { DFT, DFT_END } from './memory';

export const DFT_SCRATCH: usize = DFT;
export const DFT_SCRATCH_END: usize = DFT_END;
