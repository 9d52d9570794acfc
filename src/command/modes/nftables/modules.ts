// The kernel modules of nftables mode.

/** Names of the modules that the rules of every node and Service need. The kernel loads each when it is first needed. */
export const KERNEL_MODULES: readonly string[] = [
  'nf_tables',
  'nft_chain_nat',
  'nft_ct',
  'nft_fib_ipv4',
  'nft_fib_ipv6',
  'nft_masq',
  'nft_nat',
  'nft_numgen',
  'nft_reject_ipv4',
  'nft_reject_ipv6',
];
