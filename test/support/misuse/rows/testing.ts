// Valid calls of the fakes that no client has.
import type { IptablesOperation } from '../../../../src/kernel/testing/index.js';
import type { AnyRows } from '../calls.js';
import { CONNTRACK } from './conntrack.js';
import { FLOWS } from './functions.js';
import { CALL } from './row.js';

const IN = { family: 4, table: 'nat' } as const;
const OPERATIONS: readonly IptablesOperation[] = [
  { do: 'setChain', chain: { ...IN, name: 'A', rules: ['-j ACCEPT'] } },
  { do: 'appendRule', rule: { ...IN, chain: 'A', text: '-j RETURN' } },
  { do: 'replaceRules', rules: { ...IN, chain: 'A', before: ['-j RETURN'], after: ['-j DROP'] } },
  { do: 'deleteChain', chain: { ...IN, name: 'A' } },
];

const NAMED = CONNTRACK.get.map(([flow]) => flow);

/** Valid calls of functions, constructors (`FakeNetlink`) and methods of `/testing`. */
export const TESTING: AnyRows = {
  failNth: [[1]],
  FakeNetlink: [['generic'], [12]],
  'FakeConntrack.track': FLOWS.map((flow) => [flow]),
  'FakeConntrack.end': NAMED.map((flow) => [flow]),
  'FakeEvents.stream': [
    [
      'netlink.watch',
      { ...CALL, gather: 1, keepAlive: false, receiveBuffer: 65_536 },
      new AbortController().signal,
      () => true,
    ],
  ],
  'FakeIptables.chains': [[4]],
  'FakeIptables.save': [[6]],
  'FakeIptables.saveTables': [[4]],
  'FakeIptables.listRules': [[4, 'nat', 'OUTPUT']],
  'FakeIptables.restore': OPERATIONS.map((operation) => [4, [operation]]),
  'FakeIptables.load': [[4, '*nat\n:A - [0:0]\nCOMMIT\n']],
  'FakeIptables.dump': [[4]],
  'FakeRtnetlink.dump': [['lo']],
  'FakeRtnetlink.dumpRules': [[4]],
  'FakeSysctl.read': [['net/ipv4/ip_forward']],
  'FakeSysctl.write': [['net/ipv4/ip_forward', '1']],
};
