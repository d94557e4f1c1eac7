/** Milliseconds of processor time that this thread has used: what else the machine does meanwhile is not in it. */
export function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
