// The definitions of the commands with their own options. Help, completion and the man page are made from them. This file
// imports no library, because every start reads it.
import { type CommandDefinition, FAILED, type OptionDefinition } from './command.js';
import type { Format } from './output/output.js';

const REPORTS: readonly Format[] = ['text', 'wide', 'json', 'yaml'];

const FAILURE = [
  FAILED,
  'the command failed: invalid arguments, or its input or the kernel is unreadable',
] as const;

const VIRTUAL_SERVICE_FILTER = {
  syntax: '[text...]',
  help: 'show only virtual services that have one of these texts in their name or address',
} as const;

/** How a command that reads the kernel of the node selects the mode. */
const MODE_OF_NODE = `Without --config and --proxy-mode, the mode is that of the
agent, or kube-proxy, that runs on this node, or else the one that has programmed its kernel.`;

const API_LIMIT: OptionDefinition = {
  flags: '--timeout <seconds>',
  help: 'time limit of the API server',
  default: '30',
  number: { least: 0.1 },
};

/** All commands, in the order of the help. */
export const COMMANDS: readonly CommandDefinition[] = [
  {
    name: 'services',
    summary: 'list the Services as this node serves them, with connections and rates',
    description: `Lists the virtual services in the kernel, under the names of their Services, with their scheduler and real
servers, the weights and connections of these, and the rates of new connections. The names are those of
the running agent; with --manifests, --kubeconfig or --master, those of these objects. Without names, the list
has addresses only. In iptables mode, it lists the frontends in the rules, with the share of each endpoint and the
connections that the rules have counted. ${MODE_OF_NODE}`,
    arguments: [VIRTUAL_SERVICE_FILTER],
    options: [
      {
        flags: '--interval <seconds>',
        help: "time over which rates are measured; 0 for the kernel's estimates, which it makes every 2 s, and none in iptables mode",
        default: '0',
        number: { least: 0 },
      },
      API_LIMIT,
    ],
    formats: REPORTS,
    inputs: true,
    statuses: [[0, 'the Services were listed'], FAILURE],
    examples: [
      ['services', 'all virtual services'],
      [
        'services demo/ -o wide --interval 5',
        'those of namespace demo, with packets and bytes, measured for 5 s',
      ],
      ['services --manifests examples/ -o json', 'for programs, with names from manifests'],
    ],
  },
  {
    name: 'top',
    summary: 'show the busiest Services, again and again',
    description: `Shows the virtual services of this node, the busiest first. On a terminal, the screen is refreshed until q or
Ctrl-C; the keys a, i, c, b and n select the order; iptables mode has no active connections (a, i). If the output is not a terminal, or with --once, one list
is printed after the first interval.`,
    arguments: [VIRTUAL_SERVICE_FILTER],
    options: [
      {
        flags: '-n, --interval <seconds>',
        help: 'time between two lists, over which rates are measured',
        default: '2',
        number: { least: 0.1 },
      },
      {
        flags: '-s, --sort <order>',
        help: 'order of the list (default: rate; in nftables mode, whose rules do not count, active)',
        choices: ['rate', 'active', 'inactive', 'bytes', 'name'],
      },
      { flags: '--once', help: 'print one list, and exit' },
      {
        flags: '--count <lists>',
        help: 'exit after this number of lists',
        number: { least: 1, whole: true },
      },
      API_LIMIT,
    ],
    formats: ['text'],
    inputs: true,
    statuses: [[0, 'the command was ended by q, Ctrl-C, --once or --count'], FAILURE],
    examples: [
      ['top', 'by new connections per second'],
      ['top --sort active --once', 'one list, by active connections'],
    ],
  },
  {
    name: 'status',
    summary: 'show the health of the running agent, its last pass, and what it left out',
    description: `Asks the running agent on its health and metrics ports: whether it is healthy, when its last pass was, which
operations failed, which objects it left out, and how many changes by other programs it repaired. The ports are those
of the configuration: give the same --config as to the agent, or nothing for kube-proxy's default ports.`,
    options: [
      {
        flags: '--timeout <seconds>',
        help: 'time limit of each request',
        default: '5',
        number: { least: 0.1 },
      },
    ],
    formats: ['text', 'json', 'yaml'],
    inputs: true,
    statuses: [
      [0, 'the agent is healthy and its last pass succeeded'],
      [1, 'the agent is unhealthy, or its last pass failed, or some input is unreadable'],
      [FAILED, 'the agent does not answer, or the arguments are invalid'],
    ],
    examples: [
      ['status', 'of the agent with the default ports'],
      ['status --config config.conf -o json', 'for programs'],
    ],
  },
  {
    name: 'check',
    summary: 'check a configuration and manifests, without a kernel or a cluster',
    description: `Checks files: each one is a KubeProxyConfiguration, or manifests, by its contents; folders are searched for
.yaml, .yml and .json files. Every problem has its file, object, field and rule. Warnings are fields and flags that
are unknown, repeated, deprecated or without effect; they change the exit status only with --strict. Nothing is read but the files.`,
    arguments: [{ syntax: '[paths...]', help: 'files and folders; also those of --config and --manifests' }],
    options: [{ flags: '--strict', help: 'exit with 1 for warnings too' }],
    formats: ['text', 'json', 'yaml'],
    inputs: true,
    statuses: [
      [0, 'there is no problem'],
      [1, 'there are problems'],
      [FAILED, 'a file cannot be read, or the arguments are invalid'],
    ],
    examples: [
      ['check config.conf manifests/', 'a configuration and a folder of manifests'],
      ['check --strict --config config.conf --cures other-nodes', 'with the flags of the agent'],
    ],
  },
  {
    name: 'plan',
    summary: 'print the operations that run would carry out on this kernel, and change nothing',
    description: `Reads the objects and the kernel like run, and prints the operations that run would carry out, by Service, in
groups that have the order of their execution. The last group removes the state of another mode that ran on the node
before. Nothing is changed, and no module is loaded. On a node without any of our state, it is everything that the
objects need; see diff for the items instead of the operations. ${MODE_OF_NODE}`,
    options: [API_LIMIT],
    formats: REPORTS,
    inputs: true,
    statuses: [[0, 'there is nothing to do'], [1, 'there are operations'], FAILURE],
    examples: [
      ['plan --config config.conf --hostname-override NODE', 'before the agent replaces kube-proxy'],
      ['plan --manifests examples/ -o json', 'for programs'],
    ],
  },
  {
    name: 'diff',
    summary: 'print the items in which the kernel differs from the objects',
    description: `Reads the objects and the kernel like plan, and prints each item that is missing in the kernel, that differs, or
that no object needs any more, by Service, and the items of another mode that ran on the node before. It is the check
that a node has the state that it should have. ${MODE_OF_NODE}`,
    options: [API_LIMIT],
    formats: REPORTS,
    inputs: true,
    statuses: [[0, 'the kernel has the desired state'], [1, 'there are differences'], FAILURE],
    examples: [['diff --config config.conf', 'of a node on which the agent runs']],
  },
  {
    name: 'explain',
    summary: 'explain why a client reaches an address and port, or why it does not',
    description: `Follows a packet of a new connection through the kernel of this node as it is programmed now: addresses, rules,
sets, endpoints, and the address that each endpoint sees. It changes nothing and sends no packet: a packet that is
forwarded has left for an endpoint, which was not asked. The name of the Service is that of the running agent; with
--manifests, --kubeconfig or --master, that of these objects, which also show why a Service has no endpoint.
${MODE_OF_NODE}`,
    arguments: [
      {
        syntax: '<frontend>',
        help: 'the destination: IP:PORT or IP:PORT/PROTOCOL; an IPv6 address needs brackets; TCP is the default',
      },
    ],
    options: [
      {
        flags: '--from <client>',
        help: 'an address, pod (of this node), node (this node itself) or outside; default: outside for an external or load-balancer IP and an address of the node, node for a loopback address, otherwise pod (node for an address of no Service if no network of pods is known)',
      },
      API_LIMIT,
    ],
    formats: ['text', 'json', 'yaml'],
    inputs: true,
    statuses: [
      [0, 'the client connects, or its packets are forwarded to every endpoint that can be selected'],
      [1, 'they are not forwarded, or only to some endpoints, or this is unknown'],
      FAILURE,
    ],
    examples: [
      ['explain 10.96.0.10:53/udp', 'the path of a pod of this node to a cluster IP'],
      ['explain 203.0.113.20:80 --from 198.51.100.7 --manifests examples', 'with the name of the Service'],
    ],
  },
  {
    name: 'completion',
    summary: 'print the script with which a shell completes commands and flags',
    description: `Prints a completion script for the commands, their options, and kube-proxy's flags.`,
    arguments: [{ syntax: '<shell>', help: 'bash, zsh or fish', choices: ['bash', 'zsh', 'fish'] }],
    options: [],
    formats: [],
    inputs: false,
    statuses: [[0, 'the script was printed'], FAILURE],
    examples: [
      ['completion bash >/etc/bash_completion.d/kube-netlink-proxy', 'for all users of bash'],
      ['completion zsh >/usr/local/share/zsh/site-functions/_kube-netlink-proxy', 'for all users of zsh'],
      ['completion fish >~/.config/fish/completions/kube-netlink-proxy.fish', 'for fish'],
    ],
  },
  {
    name: 'man',
    summary: 'print the man page',
    description: 'Prints the man page of all commands and flags, in the man macros of roff.',
    options: [],
    formats: [],
    inputs: false,
    statuses: [[0, 'the page was printed'], FAILURE],
    examples: [['man >kube-netlink-proxy.8', 'for man -l kube-netlink-proxy.8']],
  },
];

/** `-o, --output`, for a command with several formats. */
export function outputOption({ formats }: CommandDefinition<string>): OptionDefinition[] {
  if (formats.length < 2) return [];
  const [usual = 'text'] = formats;
  return [{ flags: '-o, --output <format>', help: 'output format', default: usual, choices: formats }];
}

/** The command that describes another one: `help plan`. */
export const HELP = 'help';

/** Names of the commands with their own options. */
export const COMMAND_NAMES: readonly string[] = [...COMMANDS.map(({ name }) => name), HELP];
