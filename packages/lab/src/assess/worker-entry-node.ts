/** The entry of a worker thread of Node. */
import '../node.ts';
import { serve } from './worker.ts';

serve();
