// Every option of `ipvsadm --help`, as ipvsadm writes it and as the library does. Each row has addresses of its own.
import type { IpvsOperation, VirtualServiceInput } from '../../../src/kernel/ipvs/index.js';

/** A row: options, the lines that use them, the same as operations, and what `ipvsadm -S -n` then prints. */
export interface Row {
  readonly options: readonly string[];
  /** Lines for `ipvsadm -R`. */
  readonly lines: readonly string[];
  readonly operations: readonly IpvsOperation[];
  /** Lines of `ipvsadm -S -n`. */
  readonly saved: readonly string[];
}

let addresses = 0;

/** The next address of a virtual service. */
function next(): string {
  return `10.96.0.${++addresses}`;
}

function addedService(
  options: readonly string[],
  text: string,
  settings: Partial<VirtualServiceInput>,
  saved = text,
  kind: 't' | 'u' = 't',
): Row {
  const address = next();
  const service = { address, port: 80, protocol: kind === 't' ? 'tcp' : 'udp', ...settings } as const;
  return {
    options,
    lines: [`-A -${kind} ${address}:80${text}`],
    operations: [{ do: 'addService', service: service as VirtualServiceInput }],
    saved: [`-A -${kind} ${address}:80${saved}`],
  };
}

/** A row about a real server: the words after `-a … -r 10.0.0.4`, as given and as saved. */
function addedServer(
  options: readonly string[],
  text: string,
  settings: object,
  saved: string,
  port = 80,
): Row {
  const address = next();
  const service = { address, port: 80, protocol: 'tcp' } as const;
  return {
    options,
    lines: [`-A -t ${address}:80`, `-a -t ${address}:80 -r 10.0.0.4${text}`],
    operations: [
      { do: 'addService', service },
      { do: 'addRealServer', service, realServer: { address: '10.0.0.4', ...settings } },
    ],
    saved: [`-A -t ${address}:80 -s wlc`, `-a -t ${address}:80 -r 10.0.0.4:${port}${saved}`],
  };
}

/** A row whose lines and operations undo or change what they did first. */
function changed(
  options: readonly string[],
  rows: (name: string, service: { address: string; port: number; protocol: 'tcp' }) => Omit<Row, 'options'>,
): Row {
  const address = next();
  return { options, ...rows(`-t ${address}:80`, { address, port: 80, protocol: 'tcp' }) };
}

const tunnel = { forwarding: 'tunnel' } as const;

/** The schedulers of the help text. */
export const SCHEDULERS = 'rr wrr lc wlc lblc lblcr dh sh sed nq fo ovf mh'.split(' ');

/** The options that change something. */
export const CHANGES: readonly Row[] = [
  addedService(['--add-service', '-A', '--tcp-service', '-t'], '', {}, ' -s wlc'),
  addedService(['--udp-service', '-u'], '', {}, ' -s wlc', 'u'),
  {
    options: ['--sctp-service'],
    lines: ['-A --sctp-service 10.97.0.1:80'],
    operations: [{ do: 'addService', service: { address: '10.97.0.1', port: 80, protocol: 'sctp' } }],
    saved: ['-A --sctp-service 10.97.0.1:80 -s wlc'],
  },
  {
    options: ['--tcp-service'],
    lines: [
      '--add-service --tcp-service [fd00::1]:80 --scheduler rr',
      '-a -t [fd00::1]:80 -r [fd00::4]:8080 -m',
    ],
    operations: [
      { do: 'addService', service: { address: 'fd00::1', port: 80, protocol: 'tcp', scheduler: 'rr' } },
      {
        do: 'addRealServer',
        service: { address: 'fd00::1', port: 80, protocol: 'tcp' },
        realServer: { address: 'fd00::4', port: 8080, forwarding: 'masquerade' },
      },
    ],
    saved: ['-A -t [fd00::1]:80 -s rr', '-a -t [fd00::1]:80 -r [fd00::4]:8080 -m -w 1'],
  },
  {
    options: ['--fwmark-service', '-f'],
    lines: ['-A -f 5', '-a --fwmark-service 5 -r 10.0.0.4'],
    operations: [
      { do: 'addService', service: { firewallMark: 5, family: 4 } },
      { do: 'addRealServer', service: { firewallMark: 5, family: 4 }, realServer: { address: '10.0.0.4' } },
    ],
    saved: ['-A -f 5 -s wlc', '-a -f 5 -r 10.0.0.4:0 -g -w 1'],
  },
  {
    options: ['--ipv6', '-6'],
    lines: ['-A -f 6 -6 -p 60 -M 64'],
    operations: [
      {
        do: 'addService',
        service: { firewallMark: 6, family: 6, persistence: { timeout: 60, netmask: 64 } },
      },
    ],
    saved: ['-A -f 6 -6 -s wlc -p 60 -M 64'],
  },
  ...SCHEDULERS.map((scheduler) => addedService(['--scheduler', '-s'], ` -s ${scheduler}`, { scheduler })),
  ...(
    [
      ['sh', ['sh-fallback', 'sh-port']],
      ['mh', ['mh-fallback']],
      ['mh', ['mh-port']],
      ['rr', ['flag-1', 'flag-2', 'flag-3']],
    ] as const
  ).map(([scheduler, schedulerFlags]) =>
    addedService(['--sched-flags', '-b'], ` -s ${scheduler} -b ${schedulerFlags}`, {
      scheduler,
      schedulerFlags,
    }),
  ),
  addedService(['--persistent', '-p'], ' -p', { persistence: {} }, ' -s wlc -p 360'),
  addedService(['--persistent', '-p'], ' -s rr -p 10800', {
    scheduler: 'rr',
    persistence: { timeout: 10800 },
  }),
  addedService(['--netmask', '-M'], ' -s rr -p 60 -M 255.255.255.0', {
    scheduler: 'rr',
    persistence: { timeout: 60, netmask: 24 },
  }),
  addedService(['--pe'], ' -s rr --pe sip -p 60', {
    scheduler: 'rr',
    persistenceEngine: 'sip',
    persistence: { timeout: 60 },
  }),
  addedService(['--pe'], ' -s rr --pe sip', { scheduler: 'rr', persistenceEngine: 'sip' }),
  addedService(['--ops', '-o'], ' -s rr -o', { scheduler: 'rr', onePacket: true }, undefined, 'u'),
  changed(['--edit-service', '-E'], (name, service) => ({
    lines: [`-A ${name} -s rr -p 60`, `-E ${name} -s wrr`],
    operations: [
      { do: 'addService', service: { ...service, scheduler: 'rr', persistence: { timeout: 60 } } },
      { do: 'updateService', service: { ...service, scheduler: 'wrr' } },
    ],
    saved: [`-A ${name} -s wrr`],
  })),
  changed(['--delete-service', '-D'], (name, service) => ({
    lines: [`-A ${name}`, `-D ${name}`],
    operations: [
      { do: 'addService', service },
      { do: 'deleteService', service },
    ],
    saved: [],
  })),
  changed(['--edit-server', '-e'], (name, service) => ({
    lines: [`-A ${name}`, `-a ${name} -r 10.0.0.4:81 -m -x 9`, `-e ${name} -r 10.0.0.4:81 -m -w 7`],
    operations: [
      { do: 'addService', service },
      {
        do: 'addRealServer',
        service,
        realServer: { address: '10.0.0.4', port: 81, forwarding: 'masquerade', upperThreshold: 9 },
      },
      {
        do: 'updateRealServer',
        service,
        realServer: { address: '10.0.0.4', port: 81, forwarding: 'masquerade', weight: 7 },
      },
    ],
    saved: [`-A ${name} -s wlc`, `-a ${name} -r 10.0.0.4:81 -m -w 7`],
  })),
  changed(['--delete-server', '-d'], (name, service) => ({
    lines: [`-A ${name}`, `-a ${name} -r 10.0.0.4`, `-d ${name} -r 10.0.0.4`],
    operations: [
      { do: 'addService', service },
      { do: 'addRealServer', service, realServer: { address: '10.0.0.4' } },
      { do: 'deleteRealServer', service, realServer: { address: '10.0.0.4' } },
    ],
    saved: [`-A ${name} -s wlc`],
  })),
  addedServer(['--add-server', '-a', '--real-server', '-r'], '', {}, ' -g -w 1'),
  addedServer(['--gatewaying', '-g'], ' -g', { forwarding: 'route' }, ' -g -w 1'),
  addedServer(['--masquerading', '-m'], ':81 -m', { port: 81, forwarding: 'masquerade' }, ' -m -w 1', 81),
  addedServer(['--ipip', '-i'], ' -i', tunnel, ' -i -w 1 --tun-type ipip'),
  addedServer(
    ['--tun-type'],
    ' -i --tun-type ipip',
    { ...tunnel, encapsulation: { type: 'ipip' } },
    ' -i -w 1 --tun-type ipip',
  ),
  addedServer(
    ['--tun-type', '--tun-port'],
    ' -i --tun-type gue --tun-port 6080',
    { ...tunnel, encapsulation: { type: 'gue', port: 6080 } },
    ' -i -w 1 --tun-type gue --tun-port 6080 --tun-nocsum',
  ),
  addedServer(
    ['--tun-csum'],
    ' -i --tun-type gue --tun-port 6080 --tun-csum',
    { ...tunnel, encapsulation: { type: 'gue', port: 6080, checksum: 'full' } },
    ' -i -w 1 --tun-type gue --tun-port 6080 --tun-csum',
  ),
  addedServer(
    ['--tun-remcsum'],
    ' -i --tun-type gue --tun-port 6080 --tun-remcsum',
    { ...tunnel, encapsulation: { type: 'gue', port: 6080, checksum: 'remote' } },
    ' -i -w 1 --tun-type gue --tun-port 6080 --tun-remcsum',
  ),
  addedServer(
    ['--tun-nocsum'],
    ' -i --tun-type gre --tun-nocsum',
    { ...tunnel, encapsulation: { type: 'gre', checksum: 'none' } },
    ' -i -w 1 --tun-type gre --tun-nocsum',
  ),
  addedServer(
    ['--tun-csum'],
    ' -i --tun-type gre --tun-csum',
    { ...tunnel, encapsulation: { type: 'gre', checksum: 'full' } },
    ' -i -w 1 --tun-type gre --tun-csum',
  ),
  addedServer(['--weight', '-w'], ' -w 0', { weight: 0 }, ' -g -w 0'),
  // `ipvsadm -S` leaves thresholds out.
  addedServer(['--u-threshold', '-x'], ' -x 100', { upperThreshold: 100 }, ' -g -w 1'),
  addedServer(
    ['--l-threshold', '-y'],
    ' -x 100 -y 50',
    { upperThreshold: 100, lowerThreshold: 50 },
    ' -g -w 1',
  ),
];

/** Options of commands that have a test of their own, and of output. */
export const TESTED_ALONE: readonly string[] = [
  ...['--clear', '-C', '--zero', '-Z', '--set', '--help', '-h'],
  ...['--save', '-S', '--restore', '-R', '--numeric', '-n', '--sort', '--nosort'],
  ...['--start-daemon', '--stop-daemon', '--daemon', '--syncid', '--sync-maxlen'],
  ...['--mcast-interface', '--mcast-group', '--mcast-port', '--mcast-ttl'],
  ...['--list', '-L', '-l', '--timeout', '--thresholds', '--tun-info'],
  ...['--stats', '--rate', '--exact', '--connection', '-c', '--persistent-conn'],
];

/** The options that a help text names. */
export function optionsIn(help: string): string[] {
  const found = help.match(/(?<=[\s|[])--?[a-zA-Z0-9][\w-]*/g) ?? [];
  return [...new Set(found.filter((option) => option.startsWith('--') || option.length === 2))].sort();
}
