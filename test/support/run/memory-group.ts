/** A Linux control group that kills a process above its memory limit, as containers and systemd do. */
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** The mount points of both versions. */
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

  /** Creates a group, or returns null if this process may not. */
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

  /**
   * Runs a function that starts a process, which belongs to the group from its first page on. This process
   * joins for that time.
   */
  start<T>(begin: () => T): T {
    this.#move(this.#folder);
    try {
      return begin();
    } finally {
      this.#move(this.#parent);
    }
  }

  /** The group's peak memory in bytes, including sockets and the page cache. */
  get peakBytes(): number {
    return Number(readFileSync(join(this.#folder, this.#version.peak), 'utf8'));
  }

  /** Removes the group after its processes have ended. */
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
