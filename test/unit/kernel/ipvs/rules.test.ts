// Rules in ipvsadm's text: what is read, what is refused with which line, and what is written.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { formatRules } from '../../../../src/kernel/ipvs/formatRules.js';
import { parseRules, RulesError } from '../../../../src/kernel/ipvs/rules.js';
import { server, service } from '../../../support/tables/ipvs.js';

const WEB = { address: '10.96.0.1', port: 80, protocol: 'tcp' } as const;

/** The problems of a text, each as `line: rule`. */
function problemsOf(text: string): string[] {
  try {
    parseRules(text, { portNumber: () => undefined });
  } catch (error) {
    assert.ok(error instanceof RulesError, String(error));
    return error.problems.map(({ line, rule }) => `${line}: ${rule}`);
  }
  return [];
}

describe('lines of ipvsadm -R', () => {
  const same: readonly (readonly [name: string, lines: readonly string[]])[] = [
    [
      'options in any order, short, long, attached and with a sign of equality',
      [
        '-A -t 10.96.0.1:80 -s sh -p 60 -b sh-port',
        '--add-service --tcp-service=10.96.0.1:80 --persistent=60 --sched-flags sh-port --scheduler=sh',
        'ipvsadm -b sh-port -ssh -p60 -At 10.96.0.1:80',
        '  -A\t-t10.96.0.1:80   -s sh -p 60 -b sh-port  \r',
      ],
    ],
    ['names of ports', ['-A -t 10.96.0.1:80', '-A -t 10.96.0.1:http']],
    ['addresses of IPv6', ['-A -t [fd00::1]:0 -p', '-A -t fd00::1 -p', '-A -t [FD00:0::1] -p 360']],
    ['marks that ipvsadm -S prints as negative numbers', ['-A -f 4294967295', '-A -f -1']],
    [
      'no port of a real server, which has that of its service',
      [
        '-a -t 10.96.0.1:80 -r 10.0.0.4 -g',
        '-a -t 10.96.0.1:80 -r 10.0.0.4:80',
        '-a -t 10.96.0.1:80 -r 10.0.0.4:8080 -w 1',
      ],
    ],
  ];
  for (const [name, lines] of same) {
    it('have one object for the service of real servers that follow one another, and another one for another service', () => {
      const text = [
        '-a -u 10.96.0.10:53 -r 10.0.0.1:53 -m',
        '-a -u 10.96.0.10:53 -r 10.0.0.2:53 -m',
        '-a -t 10.96.0.10:53 -r 10.0.0.1:53 -m',
        '-a -f 7 -r 10.0.0.1:53',
        '-a -f 7 -6 -r [fd00::1]:53',
        '-d -f 7 -6 -r [fd00::1]:53',
      ].join('\n');
      const services = parseRules(text).map((operation) =>
        'service' in operation ? operation.service : undefined,
      );
      assert.equal(services[0], services[1]);
      assert.equal(services[4], services[5]);
      assert.deepEqual(services, [
        ...[0, 1].map(() => ({ address: '10.96.0.10', port: 53, protocol: 'udp' })),
        { address: '10.96.0.10', port: 53, protocol: 'tcp' },
        { firewallMark: 7, family: 4 },
        ...[4, 5].map(() => ({ firewallMark: 7, family: 6 })),
      ]);
    });

    it(`${name} are the same rule`, () => {
      const portNumber = (port: string, protocol: string) =>
        port === 'http' && protocol === 'tcp' ? 80 : undefined;
      const [first, ...others] = lines.map((line) => shown(parseRules(line, { portNumber })));
      for (const other of others) assert.deepEqual(other, first);
    });
  }

  it('are operations in their order; empty lines are skipped', () => {
    const text =
      '\n-C\n\n-A -t 10.96.0.1:80\n-Z\n-Z -t 10.96.0.1:80\n-D -t 10.96.0.1:80\n--stop-daemon backup\n';
    assert.deepEqual(
      parseRules(text).map((operation) => operation.do),
      ['flush', 'addService', 'zero', 'zero', 'deleteService', 'stopDaemon'],
    );
    assert.deepEqual(parseRules(''), []);
  });

  it('find ports in /etc/services', () => {
    assert.deepEqual(shown(parseRules('-D -u 10.96.0.1:domain')), [
      { do: 'deleteService', service: { address: '10.96.0.1', port: 53, protocol: 'udp' } },
    ]);
  });
});

/** Without the fields that are undefined, with canonical addresses and the defaults that ipvsadm writes out. */
function shown(operations: ReturnType<typeof parseRules>): unknown {
  return JSON.parse(
    JSON.stringify(operations)
      .replaceAll('FD00:0::1', 'fd00::1')
      .replaceAll(',"persistence":{}', ',"persistence":{"timeout":360}')
      .replaceAll(',"weight":1', ''),
  );
}

describe('lines that are refused, with their numbers', () => {
  const refused: readonly (readonly [line: string, rule: string])[] = [
    ['# comment', 'has no command that changes IPVS'],
    ['-L -n', '-L is not an option of a change'],
    ['-A -D -t 10.96.0.1:80', 'has two commands, --add-service and --delete-service'],
    ['-A', '--add-service needs one of -t, -u, --sctp-service and -f'],
    ['-A -t 10.96.0.1:80 -u 10.96.0.1:80', '--add-service needs one of -t, -u, --sctp-service and -f'],
    ['-A -t', '--tcp-service needs a value'],
    ['-A -t 10.96.0.1:80 -s rr -s wrr', '--scheduler is given twice'],
    ['-A -t 10.96.0.1:80 rr', 'rr belongs to no option'],
    ['-A -t 10.96.0.1:80 -r 10.0.0.4', '--real-server is not an option of --add-service'],
    ['-A -t localhost:80', 'localhost is not an address: names of hosts are not resolved'],
    ['-A -t 10.96.0.1:nope', 'nope is not a tcp port of /etc/services'],
    ['-A -t 10.96.0.1:0', 'service.port must be 1 to 65535 without persistence, found 0'],
    ['-A -t 10.96.0.1:80 -o', 'service.onePacket must be false without UDP or a firewall mark, found true'],
    ['-A -t 10.96.0.1:80 -p x', '-p must be a number, found x'],
    ['-A -t 10.96.0.1:80 -p -M 255.0.255.0', '-M must be the mask of a prefix, found 255.0.255.0'],
    ['-A -t 10.96.0.1:80 --ops=1', '--ops has no value'],
    ['-A -t 10.96.0.1:80 -6', '--ipv6 is for -f only'],
    [
      '-A -t 10.96.0.1:80 -s rr -b sh-port',
      "service.schedulerFlags must be of flag-1, flag-2, flag-3 for the scheduler rr, found 'sh-port'",
    ],
    ['-a -t 10.96.0.1:80', 'needs a real server, -r'],
    ['-a -t 10.96.0.1:80 -r 10.0.0.4 -g -m', 'has more than one of -g, -i and -m'],
    ['-a -t 10.96.0.1:80 -r 10.0.0.4 -w -1', '--weight must be a number, found -1'],
    [
      '-a -t 10.96.0.1:80 -r 10.0.0.4 -i --tun-csum --tun-nocsum',
      'has more than one of --tun-nocsum, --tun-csum and --tun-remcsum',
    ],
    [
      '-a -t 10.96.0.1:80 -r 10.0.0.4 -i --tun-port 5',
      'realServer.encapsulation.port is not a field of the encapsulation ipip, found 5',
    ],
    [
      '-a -t 10.96.0.1:80 -r 10.0.0.4 -i --tun-type gre --tun-remcsum',
      "realServer.encapsulation.checksum must be none or full with gre, found 'remote'",
    ],
    ['--set 1 2', '--set needs three timeouts: tcp tcpfin udp'],
    ['--start-daemon master', '--start-daemon needs an interface, --mcast-interface'],
    ['--stop-daemon both', "state must be one of master, backup, found 'both'"],
  ];
  for (const [line, rule] of refused) {
    it(line, () => assert.deepEqual(problemsOf(`-A -t 10.96.0.9:80\n${line}\n`), [`2: ${rule}`]));
  }

  it('all at once', () => {
    assert.deepEqual(problemsOf('-X\n-A -t 10.96.0.1:80\n-a\n').length, 2);
    assert.throws(() => parseRules('-X\n\n-a\n'), {
      name: 'RulesError',
      message: 'line 1: -X is not an option of a change (and 1 more)',
    });
  });
});

describe('formatRules', () => {
  it('writes services and their real servers in their order', () => {
    const text = formatRules([
      { ...service({ ...WEB, persistence: { timeout: 5, netmask: 8 } }), realServers: [server()] },
      { firewallMark: 7, family: 6, scheduler: 'lc', schedulerFlags: [], onePacket: false },
    ]);
    assert.equal(
      text,
      '-A -t 10.96.0.1:80 -s rr -p 5 -M 255.0.0.0\n-a -t 10.96.0.1:80 -r 10.0.0.4:6443 -m -w 1\n-A -f 7 -6 -s lc\n',
    );
  });

  it('names the object that has no text', () => {
    assert.throws(() => formatRules([service({ persistence: { timeout: 5, netmask: 0 } })]), {
      name: 'RangeError',
      message: 'tcp 10.96.0.1:443: its netmask is not a prefix',
    });
    assert.throws(() => formatRules([{ ...service(), realServers: [server({ forwarding: 'other' })] }]), {
      message: 'tcp 10.96.0.1:443 -> 10.0.0.4:6443: ipvsadm has no option for its forwarding method',
    });
  });
});
