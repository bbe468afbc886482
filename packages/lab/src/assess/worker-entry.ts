/** The entry of a browser's worker. */
import { serve } from './worker.ts';

serve();
