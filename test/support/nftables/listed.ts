// The ruleset of the contract of nftables, with a translation of addresses, and its listing by nft 1.0.6.
import { bytesOf, type NftablesOperation } from '../../../src/kernel/nftables/index.js';
import { ruleset } from '../contract/nftablesRuleset.js';

/** The ruleset as nft lists it. */
export const LISTED = `table ip t {
	comment "a table"
	counter seen {
		packets 0 bytes 0
	}

	set addresses {
		type ipv4_addr
		comment "a set"
		elements = { 10.0.0.1, 10.0.0.2 comment "the second" }
	}

	map vips {
		type ipv4_addr . inet_proto . inet_service : verdict
		elements = { 10.0.0.1 . tcp . 80 : goto web,
			     10.0.0.2 . udp . 53 : drop }
	}

	set networks {
		type ipv4_addr
		flags interval
		elements = { 10.1.0.0/16, 10.3.0.0 }
	}

	set clients {
		type ipv4_addr
		flags dynamic,timeout
		timeout 1m
	}

	chain input {
		type filter hook input priority filter - 10; policy accept;
		ip daddr @addresses drop comment "a rule"
	}

	chain nat {
		type nat hook prerouting priority dstnat; policy accept;
		ip daddr . meta l4proto . th dport vmap @vips
	}

	chain web {
		comment "a chain"
		counter name "seen" meta l4proto tcp dnat ip to numgen random mod 2 map { 0 : 10.244.0.1 . 8080, 1 : 10.244.0.2 . 8080 }
	}
}
`;

/** The translation of addresses. */
export const NAT = { kind: 'nat', type: 'dnat', family: 'ip', address: 1, port: 9 } as const;

/** The ruleset of the contract, with the translation of addresses that its last rule prepares. */
export const complete = ruleset.map((operation): NftablesOperation => {
  if (operation.do !== 'addRule' || operation.rule.chain !== 'web') return operation;
  const [counter, ...lookup] = operation.rule.expressions;
  const tcp = [
    { kind: 'meta', key: 'l4proto', register: 1 },
    { kind: 'cmp', operator: 'eq', source: 1, data: bytesOf('inet_proto', 'tcp') },
  ] as const;
  const expressions = [...(counter ? [counter] : []), ...tcp, ...lookup, NAT];
  return { ...operation, rule: { ...operation.rule, expressions } };
});

/** Lines, with those of one list of elements in one order: hash sets have none. */
export const inOrder = (text: string) =>
  text
    .replace(/elements = \{([^}]*)\}/g, (_, list: string) => {
      const elements = list.split(',').map((element) => element.trim());
      return `elements = { ${elements.sort().join(', ')} }`;
    })
    .split('\n')
    .map((line) => line.trim());
