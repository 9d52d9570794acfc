// Random rules that nft loads in one network namespace and this library, from the same text, in another: the same packets are counted
// by each rule.
// Needs: nftables
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { afterEach, beforeEach, it } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { type Nftables, openNftables, throwOnFailure } from '../../src/kernel/nftables/index.js';
import { parseRuleset, RulesetError } from '../../src/kernel/nftables/text/index.js';
import { PATIENCE } from '../laboratory/patience.js';
import { sample } from '../support/extent.js';
import { makeNamespace, type Namespace } from '../support/namespaces/netns.js';
import { randomFrames } from '../support/nftables/frames.js';
import { RULE_FAMILIES, type RuleFamily, randomRule, setsOf } from '../support/nftables/randomRules.js';
import { randomFrom } from '../support/random.js';

/** Rules of one seed. */
const RULES = 210;
/** Packets of one seed: fewer than the kernel queues for a link. */
const PACKETS = 400;
/** The greatest share of drawn rules that may be refused, because their text is none that the library reads. */
const MOST_REFUSED = 0.2;
/** The least shares of rules that count a packet, and that count some but not all of their family: the others compare little. */
const LEAST_COUNTING = 0.5;

/** Seeds, of which each has rules and packets of its own. */
const SEEDS = Array.from({ length: 12 }, (_, i) => 1 + i);

/** No packet but those that are sent here comes in, and none goes out. */
const SET_UP = `
ip link add in0 address 02:00:00:00:00:02 type veth peer name out0 address 02:00:00:00:00:01
for link in in0 out0; do
  ip link set $link addrgenmode none
  echo 0 >/proc/sys/net/ipv6/conf/$link/accept_ra
  echo 0 >/proc/sys/net/ipv4/conf/$link/rp_filter
done
echo 1 >/proc/sys/net/ipv6/conf/out0/disable_ipv6
nft -f - <<'END'
table inet silence { chain out { type filter hook output priority raw; policy drop; }; }
table arp silence { chain out { type filter hook output priority 0; policy drop; }; }
END
ip link set in0 up
ip link set out0 up
ip addr add 10.0.0.1/8 dev in0
ip addr add fd00::1/16 dev in0 nodad
`;

/** Sends a frame for each line. */
const SEND = `
import socket, sys
link = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
link.bind(('out0', 0))
for line in sys.stdin: link.send(bytes.fromhex(line))
`;

let namespaces: readonly [Namespace, Namespace];
let clients: readonly [Nftables, Nftables];

beforeEach(async () => {
  namespaces = [makeNamespace(), makeNamespace()];
  for (const { run } of namespaces) run('sh', '-ec', SET_UP);
  const [one, other] = namespaces;
  clients = [await openNftables({ netns: one.path }), await openNftables({ netns: other.path })];
});
afterEach(async () => {
  for (const client of clients) await client.close();
  for (const { remove } of namespaces) remove();
});

/** Rules of a family that the library reads, as many as `count`, and the number of those that it refuses. */
function readable(
  family: RuleFamily,
  count: number,
  random: () => number,
): { rules: string[]; refused: number } {
  const rules: string[] = [];
  let refused = 0;
  while (rules.length < count) {
    const rule = randomRule(family, random);
    try {
      parseRuleset(tableOf(family, [rule]));
      rules.push(rule);
    } catch (error) {
      if (!(error instanceof RulesetError)) throw error;
      refused++;
      assert.ok(refused < 20 * count, `${rule}: ${error.message}`);
    }
  }
  return { rules, refused };
}

/** A table in which every packet goes through a chain for each rule: what leaves its chain is not counted behind it. */
function tableOf(family: RuleFamily, rules: readonly string[]): string {
  const chains = rules.map((rule, i) => `\tchain r${i} {\n\t\t${rule}\n\t\tcounter\n\t}\n`).join('');
  const jumps = rules.map((_, i) => `\t\tjump r${i}\n`).join('');
  return `table ${family} tried {\n${setsOf(family)}${chains}
	chain everyRule {
		type filter hook prerouting priority mangle;
		iifname != "in0" return
${jumps}	}
	chain arrived {
		type filter hook prerouting priority filter;
		iifname "in0" counter
	}
}\n`;
}

const inNamespace = ({ name }: Namespace, command: readonly string[], input: string) =>
  execFileSync('ip', ['netns', 'exec', name, ...command], { input, encoding: 'utf8' });

/** Packets and bytes of each counter of a chain. */
async function counted(nftables: Nftables, family: RuleFamily, chain: string): Promise<string[]> {
  const rules = await nftables.listRules({ family, table: 'tried', chain }).toArray();
  return rules.flatMap(({ expressions }) =>
    expressions.flatMap((each) =>
      each.kind === 'counter' ? `${each.packets} packets, ${each.bytes} bytes` : [],
    ),
  );
}

/** Waits until the chain behind the rules of `inet` has seen as many packets. */
async function arrived(nftables: Nftables, count: number): Promise<void> {
  const end = Date.now() + PATIENCE;
  for (;;) {
    const [seen = ''] = await counted(nftables, 'inet', 'arrived');
    if (seen.startsWith(`${count} packets`)) return;
    assert.ok(Date.now() < end, `${seen} of ${count} packets have arrived`);
    await setTimeout(5);
  }
}

for (const seed of sample(SEEDS, 1)) {
  it(`${RULES} rules count the same packets as those of nft (seed ${seed})`, async (t) => {
    const random = randomFrom(seed);
    const drawn = RULE_FAMILIES.map((family) => ({
      family,
      ...readable(family, RULES / RULE_FAMILIES.length, random),
    }));
    const text = drawn.map(({ family, rules }) => tableOf(family, rules)).join('');
    const [theirs, ours] = namespaces;
    inNamespace(theirs, ['nft', '-f', '-'], text);
    throwOnFailure(await clients[1].apply(parseRuleset(text)));
    const frames = randomFrames(PACKETS, random);
    for (const namespace of [theirs, ours])
      inNamespace(namespace, ['python3', '-IS', '-c', SEND], frames.join('\n'));
    for (const client of clients) await arrived(client, PACKETS);

    const different: string[] = [];
    let [counting, telling] = [0, 0];
    for (const { family, rules } of drawn) {
      for (const [i, rule] of rules.entries()) {
        const [expected = [], found = []] = await Promise.all(
          clients.map((each) => counted(each, family, `r${i}`)),
        );
        if (String(found) !== String(expected))
          different.push(`${family}: ${rule}: ${found} instead of ${expected}`);
        if (!/^0 packets/.test(expected[0] ?? '')) counting++;
        if (expected[0] !== expected[1]) telling++;
      }
    }
    const refused = drawn.reduce((sum, each) => sum + each.refused, 0);
    t.diagnostic(
      `${counting} of ${RULES} rules count packets, ${telling} not all; ${refused} more were refused`,
    );
    assert.deepEqual(different, []);
    assert.ok(counting > LEAST_COUNTING * RULES, `only ${counting} rules count packets`);
    assert.ok(telling > LEAST_COUNTING * RULES, `only ${telling} rules tell packets apart`);
    assert.ok(refused < MOST_REFUSED * (RULES + refused), `${refused} rules were refused`);
  });
}
