/** Milliseconds of a clock that all processes of one machine share. */
export function now(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** Milliseconds of processor time, user and system, that this process has used. */
export function processorTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
