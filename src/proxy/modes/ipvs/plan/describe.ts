// Operations as a readable diff.

import type { IpsetOperation } from '../../../../kernel/ipset/types.js';
import { formatEntry } from '../../../../kernel/ipset/values/entry.js';
import type { RealServer, VirtualService } from '../../../../kernel/ipvs/types.js';
import { type ChangeOperation, changeOperation } from '../../../../kernel/ipvs/values/serverLists.js';
import { ownSettings, thresholdsText } from '../../../../kernel/ipvs/values/settingsText.js';
import { joinHostPort } from '../../../../kernel/net/address.js';
import type { RtnetlinkOperation, RuleName } from '../../../../kernel/rtnetlink/types.js';
import { describeRules } from '../../iptablesRules/plan/describe.js';
import type { Known } from '../../mode.js';
import { describeSetting } from '../../shared/plan/describeSetting.js';
import type { Item } from './items.js';
import type { Operation } from './operations.js';

/** Lines of a readable diff, for each of the kernel's operations: `+` adds, `-` removes, `~` changes. */
export function describe({ key, size, call }: Operation, known: Known<Item>): string[][] {
  switch (call.on) {
    case 'sysctl': {
      const now = known.get(key);
      return [[describeSetting(call, now?.kind === 'sysctl' ? now.value : undefined)]];
    }
    case 'timeouts': {
      const { tcp, tcpFin, udp } = call.timeouts;
      return [[`~ timeouts tcp ${tcp} tcpfin ${tcpFin} udp ${udp} (seconds, 0 as it is)`]];
    }
    case 'rtnetlink':
      return [[describeLink(call.operation)]];
    case 'ipset':
      return [[describeSet(call.operation)]];
    case 'ipvs':
      return Array.from({ length: size }, (_, index) => [
        describeServer(changeOperation(call.change, index)),
      ]);
    case 'nftables':
      return [[]]; // See program/describeTable.ts: only the kernel's part has the text of expressions.
    case 'iptables': {
      const now = known.get(key);
      return [describeRules(call.operation, now?.kind === 'chain' ? now.rules : undefined)];
    }
  }
}

function describeLink(operation: RtnetlinkOperation): string {
  const sign = operation.do.startsWith('add') ? '+' : '-';
  if (operation.do === 'addLink') return `${sign} link ${operation.name}`;
  if (operation.do === 'deleteLink') return `${sign} link ${operation.link ?? operation.name}`;
  if (operation.do === 'addRoute' || operation.do === 'deleteRoute')
    return `${sign} route local ${operation.route.destination} table ${operation.route.table}`;
  if (operation.do === 'addRule' || operation.do === 'deleteRule')
    return `${sign} ${describeRule(operation.rule)}`;
  if (operation.do === 'setLink') return `~ link ${operation.link} ${operation.settings.up ? 'up' : 'down'}`;
  if (!('address' in operation)) return operation.do; // ipvs mode has no other
  const { address, prefix, link } = operation.address;
  return `${sign} address ${address}/${prefix} on ${link}`;
}

function describeRule({ family, priority, inputLink, ipProtocol, table }: RuleName): string {
  const packets = inputLink === undefined ? `ipproto ${ipProtocol}` : `iif ${inputLink}`;
  const effect = inputLink === undefined ? `lookup ${table}` : 'unreachable';
  return `rule IPv${family} ${priority}: ${packets} ${effect}`;
}

function describeSet(operation: IpsetOperation): string {
  switch (operation.do) {
    case 'create': {
      const { name, type, family, maxElements } = operation.set;
      const options =
        family === undefined ? '' : ` family inet${family === 6 ? '6' : ''} maxelem ${maxElements}`;
      return `+ set ${name} ${type}${options}`;
    }
    case 'add':
    case 'delete':
      return `${operation.do === 'add' ? '+' : '-'} entry ${operation.set.name} ${formatEntry(operation.entry)}`;
    case 'flush':
      return `~ set ${operation.name} emptied`;
    case 'destroy':
      return `- set ${operation.name}`;
    case 'swap':
      return `~ set ${operation.name} swapped with ${operation.other}`;
    case 'rename':
      return `~ set ${operation.name} renamed to ${operation.newName}`;
    case 'flushAll':
      return '~ all sets emptied';
    case 'destroyAll':
      return '- all sets';
  }
}

function describeServer(operation: ChangeOperation): string {
  const sign = { add: '+', upd: '~', del: '-' }[operation.do.slice(0, 3)];
  const { service } = operation;
  const name = `${joinHostPort(service.address, service.port)}/${service.protocol}`;
  if (!('realServer' in operation)) {
    const settings = operation.do === 'deleteService' ? '' : ` ${describeSettings(operation.service)}`;
    return `${sign} virtual service ${name}${settings}`;
  }
  const { address, port } = operation.realServer;
  const settings = operation.do === 'deleteRealServer' ? '' : describeRealServer(operation.realServer);
  return `${sign} real server ${name} -> ${joinHostPort(address, port)}${settings}`;
}

function describeRealServer(server: RealServer): string {
  const thresholds = thresholdsText(server);
  const forwarding = server.forwarding === 'masquerade' ? '' : ` ${server.forwarding}`;
  return `${forwarding} weight ${server.weight}${thresholds === '' ? '' : ` ${thresholds}`}`;
}

function describeSettings(service: VirtualService): string {
  const { scheduler, persistence } = service;
  const kept = persistence ? [`persistent ${persistence.timeout}s`] : [];
  return [scheduler, ...kept, ...ownSettings(service)].join(' ');
}
