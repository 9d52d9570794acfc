// Captures the replies of the kernel that decoders.test.ts changes. After a build, as root, on a kernel that has all of it:
//
//   npm run vm -- unshare -n node test/unit/kernel/captures/capture.mjs
//
// Each file has the messages of one listing as the addon gives them: struct nlmsghdr, payload, padding.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openNetlink } from '../../../../dist/src/kernel/netlink/index.js';

const STATE = `
ip link set lo up
ip link add name va type veth peer name vb
ip link set dev va alias first mtu 1400 up
ip link property add dev va altname another-name
ip link set dev vb up
ip link add name br0 type bridge stp_state 1 vlan_filtering 1 mcast_query_interval 500
ip link set dev vb master br0
bridge link set dev vb guard on learning off
ip link add link va name v7 type vlan id 7 ingress-qos-map 1:2 egress-qos-map 3:4
ip addr add 10.0.0.1/24 dev va
ip addr add fd00::1/64 dev va nodad
ip route add 10.1.0.0/16 via 10.0.0.2 dev va metric 5 mtu lock 1300 rtt 20ms
ip route add 10.2.0.0/16 nexthop via 10.0.0.2 dev va weight 2 nexthop via 10.0.0.3 dev va onlink
ip route add blackhole 10.3.0.0/16 table 300
ip -6 route add fd01::/16 via fd00::2 dev va expires 1000 pref high
ip route add 10.4.0.0/16 via inet6 fd00::2 dev va
ip rule add from 10.0.0.0/8 fwmark 1/3 table 300 priority 10
ip rule add to 10.0.0.0/8 iif va ipproto tcp sport 1-5 dport 80 uidrange 1-2 goto 20 priority 11
ip rule add oif vb tos 4 unreachable priority 20
ip -6 rule add not from fd00::/16 suppress_prefixlength 0 table main priority 30
ip neigh add 10.0.0.9 lladdr 02:00:00:00:00:09 dev va nud permanent
ip neigh add proxy 10.0.0.8 dev va
ip -6 neigh add fd00::9 lladdr 02:00:00:00:00:09 dev va nud stale`;
execFileSync('sh', ['-exc', STATE], { stdio: 'inherit' });

const FAMILIES = { links: 18, routes: 26, neighbours: 30, rules: 34 };
const netlink = await openNetlink({ protocol: 'route' });
for (const [name, type] of Object.entries(FAMILIES)) {
  // The longest header of a request, struct ifinfomsg; the others are as long or shorter.
  const payload = new Uint8Array(type === 18 ? 16 : 12);
  const messages = await netlink.dump({ type, payload }).toArray();
  const bytes = messages.flatMap((message) => {
    const header = Buffer.alloc(16);
    header.writeUInt32LE(16 + message.payload.length, 0);
    header.writeUInt16LE(message.type, 4);
    header.writeUInt16LE(message.flags, 6);
    return [header, message.payload, Buffer.alloc(-message.payload.length & 3)];
  });
  writeFileSync(join(dirname(fileURLToPath(import.meta.url)), `${name}.reply`), Buffer.concat(bytes));
  console.log(name, messages.length);
}
await netlink.close();
