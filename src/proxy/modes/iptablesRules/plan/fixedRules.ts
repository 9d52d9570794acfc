// Rules that several modes have in chains of the same names, as iptables-save prints them.
import type { Family } from '../../../../kernel/net/address.js';

/** A mark as iptables-save prints it: `0x4000`. */
function hex(mark: number): string {
  return `0x${mark.toString(16)}`;
}

/** Chain KUBE-MARK-MASQ of table nat: marks packets to masquerade. */
export function setMark(mark: number): string[] {
  return [`-j MARK --set-xmark ${hex(mark)}/${hex(mark)}`];
}

/**
 * Chain KUBE-POSTROUTING of table nat: masquerades marked packets. Clears the mark before, so that a packet is not
 * masqueraded again after encapsulation.
 */
export function masqueradeMarked(mark: number): string[] {
  return [
    `-m mark ! --mark ${hex(mark)}/${hex(mark)} -j RETURN`,
    `-j MARK --set-xmark ${hex(mark)}/0x0`,
    '-m comment --comment "kubernetes service traffic requiring SNAT" -j MASQUERADE --random-fully',
  ];
}

/** Chain KUBE-FORWARD of table filter: accepts marked packets, and those of accepted connections. */
export function acceptForwarded(mark: number): string[] {
  return [
    `-m comment --comment "kubernetes forwarding rules" -m mark --mark ${hex(mark)}/${hex(mark)} -j ACCEPT`,
    '-m comment --comment "kubernetes forwarding conntrack rule" -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT',
  ];
}

/** The target that refuses connections. */
export function reject(family: Family): string {
  return `REJECT --reject-with ${family === 4 ? 'icmp-port-unreachable' : 'icmp6-port-unreachable'}`;
}

/** The target that refuses TCP packets with a reset. */
export const RESET = 'REJECT --reject-with tcp-reset';
