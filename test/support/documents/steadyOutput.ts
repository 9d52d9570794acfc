// The output of the commands without what differs in each run.

/** Replaces times, versions, ids of processes, and what depends on the machine. */
export function steady(text: string): string {
  const unversioned = text.replace(/(kube-netlink-proxy) \d+\.\d+\.\d+\S*,/, '$1 VERSION,');
  // The number of operations depends on the kernel settings that earlier tests in the same guest have written.
  const uncounted = unversioned.replace(/\d+ operations \(/, 'SOME operations (');
  const untimed = uncounted.replace(/\d+ (s|min) ago/g, 'TIME ago').replace(/\d+\.\d ms/g, 'TIME ms');
  // Where the line is broken depends on the numbers.
  return untimed.replace(
    /^last pass .*\n( {10}.*\n)+/m,
    (lines) => `${lines.trim().replace(/\n? +/g, ' ')}\n`,
  );
}
