/** Processor time by thread, from /proc (Linux): the cost of a request, and where it arises. */
import { readdirSync, readFileSync } from 'node:fs';

/** Microseconds per clock tick: Linux reports 100 ticks per second to programs. */
const TICK_US = 10_000;

/** Microseconds by thread name; threads with the same name share an entry. */
type CpuTimes = ReadonlyMap<string, number>;

/** Returns the processor time so far of each thread of a process. */
export function threadTimes(pid: number): CpuTimes {
  const times = new Map<string, number>();
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const stat = readStat(`/proc/${pid}/task/${thread}/stat`);
    if (stat) times.set(stat.name, (times.get(stat.name) ?? 0) + stat.cpuUs);
  }
  return times;
}

/** Returns the processor time so far of a process with one child per connection, such as PostgreSQL. */
export function familyTime(parentPid: number): number {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => ({ pid: Number(pid), stat: readStat(`/proc/${pid}/stat`) }))
    .filter(({ pid, stat }) => pid === parentPid || stat?.parentPid === parentPid)
    .reduce((sum, { stat }) => sum + (stat?.cpuUs ?? 0), 0);
}

export function parentOf(pid: number): number {
  return readStat(`/proc/${pid}/stat`)?.parentPid ?? 0;
}

/** proc_pid_stat(5): fields 4 (ppid), 14 and 15 (utime, stime) follow the name in parentheses. */
function readStat(path: string): { name: string; parentPid: number; cpuUs: number } | undefined {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch {
    // The thread ended after the directory was read.
    return undefined;
  }
  const end = text.lastIndexOf(')');
  const fields = text.slice(end + 2).split(' ');
  return {
    name: text.slice(text.indexOf('(') + 1, end),
    parentPid: Number(fields[1]),
    cpuUs: (Number(fields[11]) + Number(fields[12])) * TICK_US,
  };
}
