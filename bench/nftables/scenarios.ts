// The scenarios of nftables mode, in both layouts. Those of the memory of the agent are behind that of ipvs mode.

/** Those with the layout of kube-proxy, in their order. */
export const NFTABLES_SCENARIOS = [
  {
    name: 'nftablesFull',
    title: 'nftables mode: full programming',
    description:
      'The tables, chains, sets and rules that a node needs in nftables mode, in an empty kernel. kube-netlink-proxy also reads the kernel, and computes the rules from the objects. The raw limit sends the finished messages in transactions of 256 Services, with the shortest names of sets; nft reads the same operations as text, in one transaction, whose time grows with the square of the number of Services.',
    operation: 'change of the kernel',
    methods: ['ours', 'raw', 'toolBatch'],
  },
  {
    name: 'nftablesEndpoint',
    title: 'nftables mode: one endpoint changed',
    description:
      'One endpoint of one Service is replaced: its chain gets its rules anew. The time of kube-netlink-proxy is from the report of the change to the acknowledgement of the kernel; the other ways make the same finished changes. Each way pauses for 6 ms before a change.',
    operation: 'change of the kernel',
    methods: ['ours', 'raw', 'toolBatch', 'execFile'],
  },
  {
    name: 'nftablesService',
    title: 'nftables mode: one Service added',
    description:
      'One Service is added, with its endpoints: a chain with its rules, and elements of sets. Each way pauses for 6 ms before a change.',
    operation: 'change of the kernel',
    methods: ['ours', 'raw', 'toolBatch', 'execFile'],
  },
  {
    name: 'nftablesEndpoints',
    title: 'nftables mode: 1 000 endpoints changed at once',
    description:
      'One endpoint of each of 1 000 Services, or of all that have no node port, is replaced, and all of this is reported at once. Each way pauses for 6 ms before a change.',
    operation: 'change of the kernel',
    methods: ['ours', 'raw', 'toolBatch'],
  },
  {
    name: 'nftablesRestart',
    title: 'nftables mode: restart on a programmed kernel',
    description:
      'A new process finds the tables as they must be. It reads and compares everything, and changes nothing. The raw limit only lists tables, chains, sets, rules and the elements of shared sets.',
    operation: 'change of the kernel',
    methods: ['ours', 'raw'],
  },
  {
    name: 'nftablesNodeLabel',
    title: 'nftables mode: label of the node changed',
    description: 'The zone of the node changes, on which no Service depends.',
    operation: 'change of the kernel',
    methods: ['ours'],
  },
  {
    name: 'nftablesAudit',
    title: 'nftables mode: audit of unchanged tables',
    description:
      'The periodic comparison with tables that nobody has changed. The raw limit only lists, as for a restart.',
    operation: 'change of the kernel',
    methods: ['ours', 'raw'],
  },
  {
    name: 'nftablesFullInMemory',
    title: 'nftables mode: full programming, kernel in memory',
    description:
      'The same as the full programming in nftables mode, with functions in place of the kernel: the work of the process alone, with the messages of each transaction.',
    operation: 'change of the kernel',
    methods: ['ours'],
  },
  {
    name: 'nftablesEndpointInMemory',
    title: 'nftables mode: one endpoint changed, kernel in memory',
    description:
      'The same as one endpoint in nftables mode, with functions in place of the kernel: the work of the process alone, with the messages of each transaction.',
    operation: 'change of the kernel',
    methods: ['ours'],
  },
] as const;

/** Those with layout `scalable`, in their order. */
export const SCALABLE_SCENARIOS = [
  {
    name: 'scalableFull',
    title: 'nftables mode, layout scalable: full programming',
    description:
      'The same Services with --nftables-layout scalable: chains by number of endpoints, and an element for each endpoint of each frontend, in an empty kernel. The time of kube-netlink-proxy is from the report of the decoded objects to the acknowledgement of the kernel. The raw limit sends the finished messages in transactions of 4 096 elements, in as few messages as hold them; nft reads the same operations as text, in one transaction.',
    operation: 'change of the kernel',
    methods: ['ours', 'raw', 'toolBatch'],
  },
  {
    name: 'scalableEndpoint',
    title: 'nftables mode, layout scalable: one endpoint changed',
    description:
      'One endpoint of one Service is replaced: an element is deleted, and another one added. The time of kube-netlink-proxy is from the report of the change to the acknowledgement of the kernel; the other ways make the same finished changes. Each way pauses for 6 ms before a change.',
    operation: 'change of the kernel',
    methods: ['ours', 'raw', 'toolBatch'],
  },
  {
    name: 'scalableRestart',
    title: 'nftables mode, layout scalable: restart on a programmed kernel',
    description:
      'A new process finds the tables as they must be. It reads and compares everything, and changes nothing. The raw limit only lists tables, chains, sets, rules and the elements of all sets and maps.',
    operation: 'change of the kernel',
    methods: ['ours', 'raw'],
  },
] as const;
