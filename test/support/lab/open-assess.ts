/** The real `phm assess` while it runs. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { MAIN } from '../servers/server.ts';

/** Starts a command whose standard input the test controls. */
export class OpenAssess {
  readonly child: ChildProcess;
  stdout = '';
  stderr = '';

  /** `program` runs in the command before it begins. */
  constructor(args: readonly string[], program = '') {
    const early = `--import=data:text/javascript,${encodeURIComponent(program)}`;
    this.child = spawn(process.execPath, [early, MAIN, 'assess', ...args]);
    this.child.stdout?.on('data', (chunk) => {
      this.stdout += chunk;
    });
    this.child.stderr?.on('data', (chunk) => {
      this.stderr += chunk;
    });
  }

  /** Resolves once stdout holds `text`. */
  async untilWritten(text: string): Promise<void> {
    while (!this.stdout.includes(text))
      await once(this.child.stdout as NodeJS.EventEmitter, 'data');
  }

  async ended(): Promise<number | null> {
    const [code] = await once(this.child, 'close');
    return code;
  }
}
