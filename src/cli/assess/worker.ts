/** A worker thread of `phm assess`: that of the package, with the compile cache of the program. */
import '#sp800-22/worker';
