/** Words before a command that leave it only these capabilities: `net_admin`. */
export const withCapabilities = (names: readonly string[]) => [
  'setpriv',
  `--bounding-set=${['-all', ...names.map((name) => `+${name}`)].join()}`,
  '--inh-caps=-all',
];
