// The two backends of iptables: nf_tables, and the tables of iptables-legacy.

/** Whether the backend nf_tables wrote this error: its programs have the name of the backend in their messages. */
export function isNftables(kernelMessage: string | undefined): boolean {
  return kernelMessage?.includes('(nf_tables)') ?? false;
}
