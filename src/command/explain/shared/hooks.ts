// The hooks of netfilter after the destination is known, in the order in which a packet passes their tables.

/** A packet of another host, to another host. */
export const FORWARD_HOOKS: readonly string[] = [
  'mangle/FORWARD',
  'filter/FORWARD',
  'security/FORWARD',
  'mangle/POSTROUTING',
  'nat/POSTROUTING',
];

/** A packet to this node. */
export const INPUT_HOOKS: readonly string[] = ['mangle/INPUT', 'filter/INPUT', 'security/INPUT', 'nat/INPUT'];

/** A packet of this node. */
export const OUTPUT_HOOKS: readonly string[] = [
  'filter/OUTPUT',
  'security/OUTPUT',
  'mangle/POSTROUTING',
  'nat/POSTROUTING',
];
