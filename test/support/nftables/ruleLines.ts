// Rules as nft lists them, by the family of their table, which the library reads and prints.

/** All of a family are in one chain, behind the sets of {@link SETS}. */
export const RULE_LINES: Readonly<
  Record<'ip' | 'ip6' | 'inet' | 'arp' | 'bridge' | 'netdev', readonly string[]>
> = {
  ip: [
    'ip saddr 10.0.0.1',
    'ip saddr 10.0.0.0/8',
    'ip daddr != 10.96.0.0/12',
    'ip daddr { 10.0.0.1, 10.0.0.2 }',
    'ip daddr 10.0.0.1-10.0.0.9',
    'ip daddr != 10.0.0.1-10.0.0.9',
    'ip saddr & 255.255.0.255 == 10.0.0.1',
    'ip protocol udp',
    'ip ttl > 5',
    'ip length 100-200',
    'ip ttl { 5, 7-9 }',
    'ip version 4',
    'ip hdrlength != 5',
    'ip dscp cs1',
    'ip dscp { cs1, ef } drop',
    'ip dscp vmap { cs1 : accept, cs4 : continue }',
    'ip ecn ce',
    'ip frag-off 222',
    'ip dscp set af23',
    'ip ecn set ect0',
    'ip ttl set 23',
    'ip protocol set udp',
    'ip length set 40',
    'igmp type membership-query',
    'igmp group 224.0.0.1',
    'ah spi 111-222',
    'esp sequence { 22, 24 }',
    'comp cpi 33',
    'ip id set 5',
    'ip daddr set 10.0.0.1',
    'icmp type { echo-reply, echo-request }',
    'icmp code port-unreachable',
    'icmp type { echo-reply, echo-request } icmp id 5',
    'icmp type echo-request icmp sequence 1-5',
    'tcp dport set 8080',
    'dnat to 10.0.0.1-10.0.0.5',
    'meta l4proto tcp dnat to 10.0.0.1:80-90 random',
    'meta l4proto tcp dnat ip to numgen random mod 2 map { 0 : 10.0.0.1 . 80, 1 : 10.0.0.2 . 80 }',
    'snat to ip saddr map { 10.0.0.1 : 10.1.0.1 }',
    'meta l4proto tcp masquerade to :1024-2048 random,persistent',
    'meta l4proto tcp redirect to :8080',
    'reject',
    'reject with icmp net-unreachable',
    'reject with tcp reset',
    'meta l4proto tcp tproxy to 127.0.0.1:50080',
    'dup to 10.0.0.9',
    'dup to 10.0.0.9 device "lo"',
    'rt ip nexthop 10.0.0.1',
    'ip option ra value 1',
    'ip option lsrr exists',
    'ip saddr . ip daddr . meta l4proto . th dport { 10.0.0.1 . 10.0.0.2 . tcp . 80 }',
    'iif "lo" iifname "eth*" accept',
    'accept comment "words, { braces } and ; signs"',
  ],
  ip6: [
    'ip6 saddr fd00::1',
    'ip6 daddr fd00::/64',
    'ip6 daddr { fd00::1, fd00::2 } drop',
    'ip6 nexthdr tcp',
    'ip6 dscp != cs1',
    'ip6 ecn ect0',
    'ip6 flowlabel 22',
    'ip6 flowlabel { 33, 55 }',
    'ip6 dscp set af42',
    'ip6 hoplimit set 1',
    'ip6 flowlabel set 12345',
    'ip6 nexthdr set tcp',
    'frag frag-off 22-33',
    'frag more-fragments 1',
    'mh type home-test',
    'srh tag 22',
    'ip6 saddr set fd00::2',
    'icmpv6 type nd-neighbor-solicit',
    'icmpv6 code no-route',
    'icmpv6 type { nd-neighbor-solicit, nd-neighbor-advert } icmpv6 taddr fd00::1',
    'icmpv6 type { echo-request, echo-reply } icmpv6 id 5',
    'frag id 5',
    'hbh nexthdr tcp',
    'rt seg-left 2',
    'meta l4proto tcp dnat to [fd00::1]:80',
    'dnat to fd00::1-fd00::9',
    'reject',
    'reject with icmpv6 addr-unreachable',
  ],
  inet: [
    'counter packets 5 bytes 6',
    'counter name "passed"',
    'quota over 1 kbytes used 500 bytes',
    'quota name "month"',
    'limit rate 5/second',
    'limit rate over 400/minute burst 10 packets',
    'limit rate 1 mbytes/second',
    'limit rate 1 mbytes/second burst 2 kbytes',
    'log prefix "a prefix: " level debug flags all',
    'log group 5 snaplen 100 queue-threshold 20',
    'log flags tcp sequence,options flags ip options flags skuid',
    'notrack',
    'queue to 2',
    'queue flags bypass,fanout to 1-4',
    'ct state established,related accept',
    'ct state == new',
    'ct state != invalid',
    'ct state vmap { established : accept, new : drop }',
    'ct status snat,dnat',
    'ct mark & 0x000000ff == 0x00000001',
    'ct mark set meta mark',
    'ct original ip saddr 10.0.0.1',
    'meta l4proto tcp ct reply proto-dst 80',
    'ct helper "ftp"',
    'ct expiration 30s',
    'ct expiration > 1m',
    'ct expiration 10s-30s',
    'ct zone 1',
    'ct original zone set 2',
    'ct bytes > 100000',
    'ct original packets > 3',
    'ct direction reply',
    'ct id 12345',
    'ct expiration { 33s, 55s }',
    'ct event set new,related',
    'ct count over 10',
    'meta mark 0x00000001-0x00000005',
    'meta mark != 0x00000010-0x00000020',
    'meta mark set meta mark | 0x00000010',
    'meta mark set meta mark & 0xffff0010 | 0x00000010',
    'meta mark set meta mark << 8',
    'meta mark set ip saddr map { 1.1.1.1 : 0x00000001, 2.2.2.2 : 0x00000002 }',
    'meta mark set numgen inc mod 4 offset 100 map { 100 : 0x00000001, 101 : 0x00000002 }',
    'meta length > 1000',
    'meta priority 1:1',
    'meta priority { 1:1, 2:2 }',
    'meta iiftype { ether, ppp }',
    'meta ipsec exists',
    'meta day "Saturday"',
    'meta l4proto { tcp, udp } accept',
    'meta random { 5, 6 }',
    'meta priority != 1:1-2:2',
    'meta priority set root',
    'meta iiftype ether',
    'meta oiftype 5-7',
    'rt mtu 100-200',
    'rt ipsec exists',
    'meta protocol ip6',
    'meta l4proto { tcp, udp } th dport 53',
    'meta nfproto ipv6 tcp dport 80',
    'meta nftrace set 1',
    'meta pkttype broadcast',
    'meta skgid 1-5',
    'meta random 0-100',
    'oifname { "eth0", "eth1" }',
    'tcp dport != 1-100',
    'tcp dport { 80, 90-100 }',
    'tcp dport @ports',
    'tcp flags syn / fin,syn,rst,ack',
    'tcp flags ! syn,rst',
    'tcp flags == 0x3',
    'tcp flags { fin | syn, syn | ack }',
    'iifname "dummy\\*"',
    'meta mark set (meta mark & 0x000000ff) << 8',
    'meta mark set jhash ip saddr mod 2 seed 0x0',
    'meta l4proto tcp meta mark set 0x00000001 tcp dport 22',
    'meta nfproto ipv4 counter packets 0 bytes 0 ip saddr 10.0.0.1',
    'tcp window 100',
    'tcp sequence { 1, 5-7 }',
    'tcp doff 8',
    'tcp flags set fin | syn',
    'tcp urgptr 5',
    'udplite checksum 5',
    'dccp type { request, data }',
    'tcp option maxseg size 1-500',
    'tcp option sack-perm exists',
    'tcp option maxseg size set 1360',
    'tcp option maxseg size set rt mtu',
    'meta mark set ip dscp',
    'tcp option @77,16,8 5',
    'sctp chunk shutdown-complete length 5',
    'sctp chunk data stream 1337',
    'exthdr frag missing',
    'mh checksum 4',
    'frag nexthdr { tcp, udp } accept',
    'ip option rr ptr 4',
    '@nh,160,32 set 0x5',
    '@th,8,8 set 0x5',
    'sctp vtag 5',
    '@nh,8,8 & 0xf0 == 0x10',
    'fib saddr . iif oif missing',
    'fib daddr . iif type { local, broadcast }',
    'fib saddr oifname "eth0"',
    'socket transparent 1',
    'socket mark 0x00000005',
    'jhash ip saddr . tcp dport mod 4 seed 0xabc offset 10 11',
    'symhash mod 2 vmap { 0 : accept, 1 : drop }',
    'update @recent { ip saddr timeout 5s }',
    'add @recent { ip saddr limit rate 5/second counter }',
    'ip saddr != @recent drop',
    'ip saddr vmap @verdicts',
    'meta mark @marks',
    'ip dscp @classes',
    'iifname . ip saddr . tcp dport { "eth0" . 10.0.0.1 . 80 } accept',
    'ip saddr . tcp dport { 10.0.0.0/24 . 80-90 } accept',
    'ether saddr 00:11:22:33:44:55',
    'meta l4proto tcp dnat ip6 to [fd00::2]:8080',
    'reject with icmpx no-route',
    'reject with icmp port-unreachable',
    'reject',
    'goto other',
    'continue',
  ],
  arp: [
    'arp operation request',
    'arp operation { reply, nak } drop',
    'arp htype 1',
    'arp ptype ip',
    'arp saddr ip 10.0.0.1',
    'arp daddr ether 00:11:22:33:44:55',
    'arp daddr ether set 00:11:22:33:44:55',
  ],
  bridge: [
    'ether type ip',
    'ip saddr 10.0.0.1 drop',
    'ip6 saddr fd00::1 accept',
    'vlan id 5',
    'vlan id { 1, 2, 4095 } vlan pcp 1-3',
    'vlan dei 1',
    'vlan id set 2',
    'vlan id 5 ip saddr 10.0.0.1',
    'ether type 8021ad vlan id 5',
    'ether type 8021q ip protocol udp',
    'arp operation request',
  ],
  netdev: [
    'vlan id 5',
    'ether type 8021q vlan type ip',
    'arp saddr ip 10.0.0.1',
    'fwd to "lo"',
    'dup to "lo"',
    'ip saddr 10.0.0.1 drop',
    'tcp dport 80 counter packets 0 bytes 0',
  ],
};

/** Those that nft 1.0.6 cannot read. */
export const NOT_READ_BY_NFT: ReadonlySet<string> = new Set([
  // It lists them so.
  'ip protocol set udp',
  'ip6 nexthdr set tcp',
  // It lists a number, and the bits of headers.
  'igmp group 224.0.0.1',
  'icmpv6 type { nd-neighbor-solicit, nd-neighbor-advert } icmpv6 taddr fd00::1',
  'meta mark set ip dscp',
]);

/** What rules of `inet` refer to. */
export const SETS = `	counter passed {
		packets 0 bytes 0
	}

	quota month {
		25 mbytes
	}

	limit pace {
		rate 400/minute
	}

	map objects {
		type ipv4_addr : counter
		elements = { 10.0.0.1 : "passed" }
	}

	set recent {
		type ipv4_addr
		size 65535
		flags dynamic,timeout
	}

	set ports {
		type inet_service
		flags interval
		elements = { 22, 1024-2048 }
	}

	set marks {
		type mark
		flags interval
		elements = { 0x00000001-0x00000005 }
	}

	set classes {
		type dscp
		elements = { cs1,
			     ef }
	}

	map verdicts {
		type ipv4_addr : verdict
		elements = { 1.1.1.1 : jump other, 2.2.2.2 comment "e" : drop }
	}

`;
