// Rulesets in the notation of nft, as nft 1.0.6 lists them.

/** The tables of kube-proxy for two Services, one with session affinity, one with source ranges. */
export const KUBE_PROXY = ['ip', 'ip6']
  .map((family) => {
    const [pod, node, service, other] =
      family === 'ip'
        ? ['10.244.1.11', '192.168.50.10', '10.96.10.1', '10.96.0.1']
        : ['fd00:10:244::b', 'fd00:50::10', 'fd00:10:96::a', 'fd00:10:96::1'];
    const [range, wide] =
      family === 'ip' ? ['203.0.113.0/24', '10.96.0.0/12'] : ['2001:db8:1::/48', 'fd00:10:96::/112'];
    const target = family === 'ip' ? `${pod}:8080` : `[${pod}]:8080`;
    const type = family === 'ip' ? 'ipv4_addr' : 'ipv6_addr';
    const three = `${family} daddr . meta l4proto . th dport`;
    return `table ${family} kube-proxy {
	comment "rules for kube-proxy"
	set cluster-ips {
		type ${type}
		comment "Active ClusterIPs"
		elements = { ${other}, ${service} }
	}
	set hairpin-connections {
		type ${type} . ${type} . inet_proto . inet_service
		comment "service hairpin connections"
		elements = { ${pod} . ${pod} . tcp . 8080 }
	}
	set nodeport-ips {
		type ${type}
		elements = { ${node} }
	}
	set affinity-CER3S5DK-demo/sticky/tcp/http__${pod.replaceAll(':', '.')}/8080 {
		type ${type}
		flags dynamic,timeout
		timeout 3h
	}
	map no-endpoint-services {
		type ${type} . inet_proto . inet_service : verdict
		elements = { ${service} . udp . 53 comment "demo/dns" : goto reject-chain, ${service} . tcp . 53 comment "demo/dns:tcp" : drop }
	}
	map firewall-ips {
		type ${type} . inet_proto . inet_service : verdict
	}
	map service-ips {
		type ${type} . inet_proto . inet_service : verdict
		elements = { ${other} . tcp . 443 : goto service-2QRHZV4L-default/kubernetes/tcp/https, ${service} . tcp . 80 : goto external-A/b/tcp/ }
	}
	map service-nodeports {
		type inet_proto . inet_service : verdict
		elements = { tcp . 30080 : goto external-A/b/tcp/, udp . 30053 : goto external-A/b/tcp/ }
	}
	chain reject-chain {
		comment "helper for @no-endpoint-services / @no-endpoint-nodeports"
		reject
	}
	chain filter-prerouting-pre-dnat {
		type filter hook prerouting priority dstnat - 10; policy accept;
		ct state new jump firewall-check
	}
	chain filter-output-pre-dnat {
		type filter hook output priority -110; policy accept;
	}
	chain nat-prerouting {
		type nat hook prerouting priority dstnat; policy accept;
		jump services
	}
	chain nat-postrouting {
		type nat hook postrouting priority srcnat; policy accept;
		jump masquerading
	}
	chain firewall-check {
		${three} vmap @firewall-ips
	}
	chain masquerading {
		meta mark & 0x00004000 != 0x00000000 meta mark set meta mark ^ 0x00004000 masquerade fully-random
		ct status dnat ${family} saddr . ${family} daddr . meta l4proto . th dport @hairpin-connections masquerade fully-random
	}
	chain services {
		${family} daddr @cluster-ips ${family} saddr != ${wide} meta mark set meta mark | 0x00004000 comment "masquerade all"
		${three} vmap @service-ips
		${family} daddr @nodeport-ips meta l4proto . th dport vmap @service-nodeports
		fib daddr type local ${family} daddr != ${wide} meta l4proto . th dport vmap @service-nodeports
		iifname != "eth*" goto service-2QRHZV4L-default/kubernetes/tcp/https comment "short-circuit pod traffic"
		iifname "cni0" drop
	}
	chain firewall-A/b/tcp/ {
		${family} saddr != { ${range}, ${wide} } drop
		${family} saddr != ${range} drop
		${family} daddr { ${service}, ${other} } drop
	}
	chain external-A/b/tcp/ {
		fib saddr type local meta mark set meta mark | 0x00004000 comment "masquerade local traffic"
		goto service-2QRHZV4L-default/kubernetes/tcp/https
	}
	chain service-2QRHZV4L-default/kubernetes/tcp/https {
		meta l4proto tcp dnat ${family} to numgen random mod 2 map { 0 : ${pod} . 8080, 1 : ${node} . 6443 }
	}
	chain endpoint-A {
		update @affinity-CER3S5DK-demo/sticky/tcp/http__${pod.replaceAll(':', '.')}/8080 { ${family} saddr }
		meta l4proto tcp dnat to ${target}
	}
	chain local-A {
		${family} saddr @affinity-CER3S5DK-demo/sticky/tcp/http__${pod.replaceAll(':', '.')}/8080 goto endpoint-A
		numgen random mod 2 vmap { 0 : goto endpoint-A, 1 : goto endpoint-A }
	}
}
`;
  })
  .join('');

/** A firewall: what the library has beside the needs of kube-proxy. */
export const FIREWALL = `table inet firewall {
	flags dormant
	comment "für alle"
	counter passed {
		comment "a counter"
		packets 5 bytes 7
	}
	quota month {
		over 25 mbytes used 10 bytes
	}
	set ranges {
		type ipv4_addr
		size 100
		flags interval
		auto-merge
		comment "several"
		elements = { 10.0.0.0/8, 192.168.0.1-192.168.0.5, 1.2.3.4, 240.0.0.0-255.255.255.255, 0.0.0.0/8 }
	}
	set six {
		type ipv6_addr
		flags interval
		elements = { fd00::/64, fe80::1, ff00::/8 }
	}
	set ports {
		type inet_service
		elements = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 22, 443, 8080 }
	}
	set marks {
		type mark
		flags interval
		elements = { 1-5, 0x100-0x1ff, 0x10000, 0xffff0000-0xffffffff }
	}
	set links {
		type ifname
		elements = { "eth0", "lo", "bond0.100" }
	}
	set pairs {
		type ipv4_addr . inet_service
		flags interval
		elements = { 10.0.0.0/24 . 80-90, 10.0.5.1 . 5 }
	}
	set states {
		type ct_state
		elements = { new, established }
	}
	set hardware {
		type ether_addr
		elements = { 00:11:22:33:44:55, 02:00:00:00:00:01 }
	}
	set recent {
		type ipv4_addr
		size 65535
		flags dynamic,timeout
		timeout 1m30s
	}
	map names {
		typeof ip daddr . meta l4proto . th dport . numgen random mod 2 : ip daddr . tcp dport
		comment "endpoints"
		elements = { 10.0.0.1 . tcp . 80 . 0 : 10.1.1.1 . 8080, 10.0.0.1 . tcp . 80 . 1 : 10.1.1.2 . 8080 }
	}
	map verdicts {
		type ipv4_addr : verdict
		elements = { 1.1.1.1 : jump regular, 2.2.2.2 comment "e" : drop, 3.3.3.3 : accept, 4.4.4.4 : return }
	}
	map addresses {
		type inet_service : ipv4_addr
		flags interval
		elements = { 1-5 : 1.1.1.1, 8 : 9.9.9.9, 65000-65535 : 5.5.5.5 }
	}
	chain regular {
	}
	chain input {
		type filter hook input priority filter + 5; policy drop;
		ct state established,related accept
		ct state invalid drop
		ct state vmap { invalid : drop, established : accept, related : accept }
		ct state @states accept
		iif "lo" accept
		iifname "eth*" accept
		iifname { "eth0", "eth1" } accept
		oifname @links accept
		tcp dport 22 accept
		tcp dport { 80, 443 } ct state new counter packets 0 bytes 0 accept
		tcp dport 1000-2000 accept
		tcp dport != 1000-2000 accept
		udp sport 53 udp dport 1024-65535 accept
		sctp dport 9 accept
		icmp type echo-request accept
		icmpv6 type { echo-request, nd-neighbor-solicit } accept
		meta l4proto { tcp, udp } th dport 53 accept
		meta l4proto tcp counter packets 0 bytes 0
		ip protocol icmp accept
		ip saddr 10.0.0.0/8 drop
		ip saddr 10.96.0.0/12 drop
		ip saddr != 10.96.0.0/12 drop
		ip6 saddr fd00::/64 drop
		ip6 saddr @six drop
		ip6 nexthdr ipv6-icmp accept
		ip ttl < 5 drop
		ip saddr @ranges tcp dport @ports accept
		ip daddr vmap @verdicts
		ip daddr . tcp dport @pairs accept
		ether saddr @hardware accept
		ether saddr 00:11:22:33:44:55 accept
		tcp flags syn / fin,syn,rst,ack accept
		tcp flags ! syn,rst drop
		meta mark 0x00000001 accept
		meta mark @marks accept
		meta mark & 0x000000ff == 0x00000010 accept
		meta mark 0x00000001-0x00000005 accept
		meta mark & 0xffff0000 == 0x00010000 accept
		meta mark & 0xf0f00000 != 0x00100000 accept
		meta mark & 0x80000000 == 0x00000000 accept
		meta mark & 0x80000000 != 0x00000000 accept
		meta mark set 0x00000005
		ct mark set meta mark
		meta mark set ct mark
		meta mark set ip saddr map { 1.1.1.1 : 0x00000001, 2.2.2.2 : 0x00000002 }
		log prefix "drop: " level info
		log group 2 snaplen 80
		log flags tcp sequence,options flags skuid
		log flags all
		limit rate 10/minute burst 7 packets accept
		limit rate over 1 mbytes/second drop
		quota 100 bytes
		quota over 2 kbytes drop
		counter name "passed"
		quota name "month"
		reject
		meta l4proto tcp reject with tcp reset
		reject with icmp host-unreachable
		reject with icmpv6 no-route
		reject with icmpx admin-prohibited
		fib saddr . iif oif missing drop
		fib daddr type { local, broadcast } accept
		meta pkttype broadcast drop
		meta skuid 0 accept
		meta nfproto ipv4 accept
		meta nfproto ipv6 tcp dport 80 accept
		meta rtclassid 5
		numgen inc mod 3 vmap { 0 : jump regular, 1 : accept, 2 : drop }
		numgen random mod 10 offset 3 3 accept
		ip saddr . ip daddr { 1.1.1.1 . 2.2.2.2, 3.3.3.3 . 4.4.4.4 } accept
		ct status snat,dnat accept
		ct direction original accept
		ct original ip saddr 1.2.3.4 accept
		ct count over 5 drop
		update @recent { ip saddr limit rate 3/second } drop
		add @recent { ip saddr timeout 5s }
		jhash ip saddr . tcp sport mod 4 seed 0xdeadbeef vmap { 1 : accept }
		return
	}
	chain nat {
		type nat hook prerouting priority dstnat; policy accept;
		ip daddr 1.1.1.1 tcp dport 80 dnat ip to 10.0.0.1:8080
		ip6 daddr fd00::1 tcp dport 80 dnat ip6 to [fd00::2]:8080
		tcp dport 81 redirect to :8081
		dnat ip to 10.0.0.1-10.0.0.5
		dnat ip to numgen random mod 2 map { 0 : 1.1.1.1, 1 : 2.2.2.2 }
		dnat ip to tcp dport map @addresses
	}
	chain post {
		type nat hook postrouting priority srcnat; policy accept;
		oifname "eth0" snat ip to 1.2.3.4
		tcp dport 5 masquerade to :1024-65535
		masquerade random,persistent
	}
	chain raw {
		type filter hook prerouting priority raw; policy accept;
		notrack
	}
}
table bridge links {
	chain forward {
		type filter hook forward priority filter; policy accept;
		ether type ip accept
	}
}
table netdev lower {
	chain incoming {
		type filter hook ingress device "lo" priority filter; policy accept;
		counter packets 0 bytes 0
	}
}
table arp answers {
	chain incoming {
		type filter hook input priority filter; policy drop;
	}
}
`;

/** Sets and maps of every kind, objects, and a flow table. */
export const SETS_AND_OBJECTS = `table inet kinds {
	counter passed {
		packets 0 bytes 0
	}

	limit pace {
		rate over 400/minute burst 9 packets
	}

	synproxy web {
		mss 1460
		wscale 7
		timestamp sack-perm
	}

	set counted {
		type ipv4_addr
		size 65535
		flags dynamic
		counter
		elements = { 10.0.0.1 counter packets 5 bytes 7, 10.0.0.2 counter packets 0 bytes 0 }
	}

	set timed {
		type ipv4_addr
		size 65535
		flags dynamic,timeout
		timeout 1m
		gc-interval 10s
	}

	set every {
		type ipv4_addr
		flags interval
		elements = { 10.0.0.0/8,
			     * }
	}

	set links {
		type ifname
		flags interval
		elements = { "eth*",
			     "lo" }
	}

	set tags {
		typeof vlan id . ether saddr
		elements = { 5 . 00:11:22:33:44:55 }
	}

	set raw {
		typeof ip daddr . @ih,32,32
		elements = { 10.0.0.1 . 4660 }
	}

	map counters {
		type ipv4_addr : counter
		elements = { 10.0.0.1 : "passed" }
	}

	map targets {
		type ipv4_addr : interval ipv4_addr . inet_service
		flags interval
		elements = { 10.0.0.1 : 10.1.0.1-10.1.0.9 . 80-90 }
	}

	flowtable fast {
		hook ingress priority filter + 5
		devices = { "lo" }
		counter
	}

	chain forward {
		type filter hook forward priority filter; policy accept;
		iifname @links ip saddr @every counter name ip saddr map @counters
		limit name "pace" drop
		add @counted { ip saddr counter }
		ip protocol tcp flow add @fast
		tcp dport 80 synproxy name "web"
	}

	chain prerouting {
		type nat hook prerouting priority dstnat; policy accept;
		meta l4proto tcp dnat ip to ip saddr map @targets
	}
}
`;
