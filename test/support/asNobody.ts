// A user without privileges, for tests.

/**
 * Starts a program as user and group 65534. The capability to read every file remains, because the checkout may lie in the home
 * of root, which other users cannot read.
 */
export const AS_NOBODY: readonly string[] = [
  'setpriv',
  ...['--reuid', '65534', '--regid', '65534', '--clear-groups'],
  ...['--inh-caps=-all,+dac_read_search', '--ambient-caps=-all,+dac_read_search'],
];
