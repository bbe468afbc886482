/** A control group of Linux that ends what takes more memory than it may, as containers and systemd do. */
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** The two versions, as they are mounted where both or one of them can be used. */
const VERSIONS = [
  {
    root: '/sys/fs/cgroup/memory',
    own: /^\d+:memory:(.*)$/m,
    limit: 'memory.limit_in_bytes',
    peak: 'memory.max_usage_in_bytes',
  },
  { root: '/sys/fs/cgroup', own: /^0::(.*)$/m, limit: 'memory.max', peak: 'memory.peak' },
] as const;

export class MemoryGroup {
  readonly #folder: string;
  readonly #parent: string;
  readonly #version: (typeof VERSIONS)[number];

  private constructor(folder: string, parent: string, version: (typeof VERSIONS)[number]) {
    this.#folder = folder;
    this.#parent = parent;
    this.#version = version;
  }

  /** Makes one; null where this process may not. */
  static make(bytes: number): MemoryGroup | null {
    try {
      const own = readFileSync('/proc/self/cgroup', 'utf8');
      for (const version of VERSIONS) {
        const [, path] = version.own.exec(own) ?? [];
        const folder = join(version.root, `phm-test-${process.pid}-${Date.now()}`);
        if (path === undefined || !existsSync(version.root)) continue;
        mkdirSync(folder);
        writeFileSync(join(folder, version.limit), String(bytes));
        return new MemoryGroup(folder, join(version.root, path), version);
      }
      return null;
    } catch {
      return null;
    }
  }

  /** Runs what starts a process: that is in the group from its first page on. This one is there meanwhile. */
  start<T>(begin: () => T): T {
    this.#move(this.#folder);
    try {
      return begin();
    } finally {
      this.#move(this.#parent);
    }
  }

  /** The most bytes that the group has had: also those of sockets, and of files that were read. */
  get peakBytes(): number {
    return Number(readFileSync(join(this.#folder, this.#version.peak), 'utf8'));
  }

  /** Removes it, once its processes have ended. */
  async remove(): Promise<void> {
    for (let tries = 0; tries < 50; tries += 1) {
      try {
        rmdirSync(this.#folder);
        return;
      } catch {
        await delay(100);
      }
    }
  }

  #move(folder: string): void {
    writeFileSync(join(folder, 'cgroup.procs'), String(process.pid));
  }
}
