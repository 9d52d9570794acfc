// The state of the running agent: the result of `status -o json`, from the answers of its servers. Pure.

import { excerpt } from '../../../kernel/errors.js';
import { isRecord } from '../../../proxy/input/fields.js';
import type { AgentReport, ContactReport, FailureReport, FormerModeReport } from '../../agent/agentReport.js';
import type { StyleName } from '../output/colours.js';
import { type Layout, textLines } from '../output/output.js';
import { count } from '../summary.js';

/** The answer of the health port. */
interface HealthReport {
  /** The answer's status is 200: every family is healthy, and the Node is eligible. */
  readonly healthy: boolean;
  /** The Node is neither being deleted nor tainted for it. */
  readonly nodeEligible: boolean;
  /** Names of the unreadable inputs. */
  readonly unread: readonly string[];
}

/** The state of the agent. */
export interface StatusReport {
  /** No reason below is a fault: the exit status is 0. */
  readonly good: boolean;
  /** Why the exit status is not 0. */
  readonly faults: readonly string[];
  readonly health: HealthReport;
  readonly agent: AgentReport;
}

/** Decodes the answer of /healthz; undefined if it is not that of a proxy. */
export function decodeHealth(status: number, text: string): HealthReport | undefined {
  const answer = parsed(text);
  if (!isRecord(answer) || ![200, 503].includes(status) || typeof answer['currentTime'] !== 'string')
    return undefined;
  const unread = Array.isArray(answer['unread']) ? answer['unread'].map(String) : [];
  return { healthy: status === 200, nodeEligible: answer['nodeEligible'] !== false, unread };
}

/** Decodes the answer of /status; undefined if it is not that of an agent. */
export function decodeAgentReport(text: string): AgentReport | undefined {
  const answer = parsed(text);
  if (!isRecord(answer)) return undefined;
  const { lastPass, version, node, mode, startedAt, problems, families } = answer;
  const texts = [version, node, mode, startedAt].every((value) => typeof value === 'string');
  const numbers = ['repaired', 'leftOut'].every((name) => typeof answer[name] === 'number');
  const optionalLists = [
    'formerModes',
    'lacking',
    'contacts',
    'foreignChains',
    'unreachableNodes',
    'withoutEffect',
  ].every((name) => Array.isArray(answer[name] ?? []));
  const counts = ['draining', 'repeated'].every((name) =>
    ['number', 'undefined'].includes(typeof answer[name]),
  );
  const lists = Array.isArray(problems) && Array.isArray(families);
  const named = ['string', 'undefined'].includes(typeof answer['nodeObject']);
  const file = answer['configuration'] ?? { waiting: [] };
  const hasFile = isRecord(file) && Array.isArray(file['waiting']);
  const pass = lastPass === null || (isRecord(lastPass) && Array.isArray(lastPass['failures']));
  return texts && named && numbers && counts && optionalLists && hasFile && lists && pass
    ? (answer as unknown as AgentReport)
    : undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * The report of both answers.
 *
 * @param now time of day, in ms since 1970
 */
export function statusReport(health: HealthReport, agent: AgentReport, now = Date.now()): StatusReport {
  const { lastPass, lacking: [lacking] = [], kernelError, repeated = 0 } = agent;
  const unread = health.unread.filter(
    (name) => agent.nodeObject !== 'missing' || name !== `Node ${agent.node}`,
  );
  const faults = [
    ...(health.healthy ? [] : [unhealthyWhy(health, agent)]),
    ...staleWhy(agent, now),
    ...(agent.nodeObject === 'deleted' ? ['the Node was deleted: its last state stays in force'] : []),
    ...(lastPass === null ? ['no pass has ended'] : []),
    ...(lastPass && lastPass.failed > 0
      ? [`${count(lastPass.failed, 'operation')} of the last pass failed`]
      : []),
    ...(lastPass && lastPass.unknown > 0
      ? [`${count(lastPass.unknown, 'item')} not in the desired state`]
      : []),
    ...(lacking === undefined ? [] : [`all Services need what the kernel refuses: ${lacking}`]),
    ...(kernelError === null ? [] : ['the kernel could not be read']),
    ...(repeated > 0 ? [`${count(repeated, 'item')} repaired again in each audit`] : []),
    ...(agent.formerModes ?? []).flatMap(({ mode, error }) =>
      error === null ? [] : [`the state of ${mode} mode could not be removed`],
    ),
    ...(unread.length > 0 ? [`unreadable input: ${unread.join(', ')}`] : []),
  ];
  return { good: faults.length === 0, faults, health, agent };
}

/** The resources without contact: one reason, since they have mostly the same cause. */
function staleWhy({ contacts = [] }: AgentReport, now: number): string[] {
  const lost = contacts.filter(({ state }) => state === 'lost');
  const [first] = lost;
  if (!first) return [];
  const age = first.lastContact === null ? '' : ` for ${duration(now - Date.parse(first.lastContact))}`;
  const cause = first.error === null ? '' : `: ${first.error}`;
  return [
    `stale: no contact with the API server${age} (${lost.map(({ resource }) => resource).join(', ')})${cause}`,
  ];
}

function unhealthyWhy({ nodeEligible }: HealthReport, { lastPass, node, nodeObject }: AgentReport): string {
  if (nodeObject === 'missing') return `there is no Node ${node}: compare --hostname-override`;
  if (nodeObject === 'unread') return 'the Node has not been read, or has no address yet';
  if (!nodeEligible) return 'the Node was not seen, or is being removed';
  return lastPass === null ? 'the proxy is not ready' : 'the proxy is unhealthy';
}

/**
 * The report for people.
 *
 * @param now time of day, in ms since 1970
 */
export function statusLines(
  { good, faults, health, agent }: StatusReport,
  now: number,
  { columns, style }: Pick<Layout, 'columns' | 'style'>,
): string[] {
  const {
    version,
    node,
    mode,
    families,
    startedAt,
    contacts = [],
    lastPass,
    kernelError,
    repaired,
    repeated = 0,
    withoutEffect = [],
    foreignChains = [],
    unreachableNodes = [],
    draining,
    formerModes = [],
    configuration: { waiting } = { waiting: [] },
    leftOut,
    problems,
  } = agent;
  const row = (title: string, value: string, look?: StyleName) =>
    textLines(value, columns - TITLE_WIDTH, 0).map((line, i) => {
      const shown = look === undefined ? line : style(look, line);
      return `${style('heading', (i === 0 ? title : '').padEnd(TITLE_WIDTH))}${shown}`;
    });
  const below = (line: string) => textLines(`  ${line}`, columns, 4);
  const ago = (time: string) => `${duration(now - Date.parse(time))} ago`;
  return [
    ...row('status', good ? 'good' : faults.map((fault) => excerpt(fault)).join('; '), good ? 'good' : 'bad'),
    ...row('agent', `kube-netlink-proxy ${excerpt(version)}, ${mode} mode, IPv${families.join(' and IPv')}`),
    ...row('node', `${excerpt(node)}${nodeRemark(health, agent)}`),
    ...row('started', ago(startedAt)),
    ...(contacts.length === 0
      ? []
      : row('contact', contacts.map((each) => contactText(each, ago)).join(', '))),
    ...row('last pass', lastPass ? passText(lastPass, ago(lastPass.endedAt)) : 'none has ended'),
    ...(lastPass?.failures ?? []).flatMap((failure) => below(failureText(failure))),
    ...(lastPass ? notListed(lastPass.failed, lastPass.failures).flatMap(below) : []),
    ...(kernelError === null ? [] : row('kernel', excerpt(kernelError))),
    ...row(
      'drift',
      repaired === 0
        ? 'none since the start'
        : `${count(repaired, 'operation')} since the start restored what others had changed`,
    ),
    ...(repeated === 0
      ? []
      : row(
          '',
          `another program undoes the repair of ${count(repeated, 'item')}, or audits read another table`,
        )),
    ...withoutEffect.flatMap((option) => row('no effect', excerpt(option))),
    ...foreignChains.flatMap((chain) => row('foreign', `not of this proxy, and stays: ${excerpt(chain)}`)),
    ...(unreachableNodes.length === 0
      ? []
      : row(
          'no answer',
          `${unreachableNodes.map((name) => excerpt(name)).join(', ')}: their endpoints get no new connections`,
        )),
    ...(draining === undefined ? [] : row('draining', count(draining, 'real server'))),
    ...formerModes.flatMap((former) => row('former', formerText(former))),
    ...(waiting.length === 0
      ? []
      : row(
          'config',
          `the file has changed; waiting for the next start: ${waiting.map((field) => excerpt(field)).join(', ')}`,
        )),
    ...row('left out', leftOut === 0 ? 'nothing' : count(leftOut, 'problem')),
    ...problems.flatMap((problem) => below(excerpt(problem))),
    ...notListed(leftOut, problems).flatMap(below),
  ];
}

/** A line with the number of those that the answer does not list; none if it lists all. */
function notListed(all: number, listed: readonly unknown[]): string[] {
  return all > listed.length ? [`and ${all - listed.length} more: the agent's log has all`] : [];
}

/** Terminal columns of the titles of lines. */
const TITLE_WIDTH = 10;

function nodeRemark({ nodeEligible }: HealthReport, { nodeObject }: AgentReport): string {
  if (nodeObject === 'missing') return ' (there is no Node of this name)';
  if (nodeObject === 'deleted') return ' (deleted: its last state stays in force)';
  return nodeEligible ? '' : ' (not seen, or being removed)';
}

function contactText({ resource, state, lastContact }: ContactReport, ago: (time: string) => string): string {
  const when = lastContact === null ? 'never' : ago(lastContact);
  return `${excerpt(resource)} ${when}${state === 'current' ? '' : ` (${state})`}`;
}

function formerText({ mode, connections, error }: FormerModeReport): string {
  if (error !== null) return `${excerpt(mode)} mode: its state could not be removed: ${excerpt(error)}`;
  return `${excerpt(mode)} mode: its state stays for ${count(connections, 'connection')}`;
}

/** Agents before these fields have no Services, or no fields, in their answers. */
function failureText({ services = [], fields = [], message }: FailureReport): string {
  const concern = fields.length > 0 ? fields.join('; ') : services.join(', ');
  return [...(concern === '' ? [] : [excerpt(concern)]), excerpt(message)].join(': ');
}

function passText(pass: NonNullable<AgentReport['lastPass']>, when: string): string {
  const { full, services, operations, failed, waitMilliseconds: wait } = pass;
  const waited = wait === undefined ? '' : `waited ${wait.toFixed(1)} ms, `;
  const time = `${waited}planned in ${pass.planMilliseconds.toFixed(1)} ms, kernel ${pass.kernelMilliseconds.toFixed(1)} ms`;
  const failures = failed === 0 ? '' : `, ${failed} failed`;
  const kind = full ? 'all items compared' : count(services, 'Service');
  return `${when}: ${kind}, ${count(operations, 'operation')}${failures} (${time})`;
}

/** `42 s`, `3 min`, `5 h`, `2 d`. */
function duration(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / 1000));
  if (seconds < 100) return `${seconds} s`;
  if (seconds < 6000) return `${Math.round(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86_400)} d`;
}
