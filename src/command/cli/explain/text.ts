// An explanation as text for people.

import { joinHostPort } from '../../../kernel/net/address.js';
import { beside, wrapped } from '../../config/wrap.js';
import type {
  Cause,
  CauseCode,
  EndpointPath,
  Explanation,
  Step,
  Verdict,
} from '../../explain/explanation.js';
import { percent } from '../../explain/packet/conditions.js';

/** The Service of the destination, from the objects. */
export interface ServiceOfFrontend {
  /** `namespace/name`. */
  readonly service: string;
  readonly portName: string;
  /** Settings that no object in the kernel shows: `fail-fast removed`. Absent: none. */
  readonly settings?: readonly string[];
  /** Why it has no real server, if the objects show the reason. */
  readonly reason?: string;
}

/**
 * The lines of an explanation: the packet, its path, the path to each endpoint, the reasons, and the verdict. About a screen for any
 * number of endpoints.
 *
 * @param columns of the longest line, unless a word is longer
 * @param refused why Services may not have the address of the destination
 */
export function explanationLines(
  explanation: Explanation,
  owner: ServiceOfFrontend | undefined,
  columns: number,
  refused: readonly string[] = [],
): string[] {
  const { client, steps, endpoints, causes, warnings, notUnderstood, notJudged } = explanation;
  const reasons = reasonsOf(causes, endpoints);
  if (owner?.reason !== undefined) reasons.push(owner.reason);
  reasons.push(...refused);
  const section = (title: string, lines: readonly string[]) =>
    lines.length === 0
      ? []
      : [`${title}:`, ...shortened(lines, LISTED).flatMap((line) => wrapped(`  ${line}`, columns, 4)), ''];
  return [
    ...wrapped(heading(explanation, owner), columns, 2),
    ...wrapped(`client ${client.address}: ${client.reason}`, columns, 2),
    ...(owner?.settings ? wrapped(`settings of the Service: ${owner.settings.join(', ')}`, columns, 2) : []),
    '',
    ...stepLines(
      steps.filter(({ at, endpoint }) => at !== 'client' && endpoint === undefined),
      columns,
    ),
    '',
    ...endpointLines(explanation, columns),
    ...section(
      'rules that are not understood, and were skipped',
      notUnderstood.map(({ at, rule, part }) => `${at}: ${part}   [${rule}]`),
    ),
    ...section('may decide otherwise', notJudged),
    ...section('also wrong on this node', withoutRepeated(warnings, causes)),
    ...section('because', reasons),
    ...wrapped(verdictLine(explanation), columns, 2),
  ];
}

/** Number of lines of a section, so that the text fits a screen: `-o json` has all. */
const LISTED = 8;
/** Number of endpoints alike from which they are one entry. */
const ALIKE = 4;
/** Number of entries of endpoints whose steps are shown, if endpoints are many. */
const DETAILED = 2;

/** The first lines, and the number of the others. */
function shortened(lines: readonly string[], most: number): readonly string[] {
  if (lines.length <= most) return lines;
  return [...lines.slice(0, most - 1), `and ${lines.length - most + 1} more, see -o json`];
}

/** A text about an endpoint, in which its address and port have no value. */
function general(text: string, endpoint: string): string {
  const address = endpoint.replace(/:\d+$/, '').replace(/^\[|\]$/g, '');
  return text.replaceAll(endpoint, 'ENDPOINT').replaceAll(address, 'ADDRESS');
}

/** Entries of lists that differ in what `alike` leaves out, in the order of the first of each. */
function groupsOf<Entry>(entries: readonly Entry[], alike: (entry: Entry) => string): Entry[][] {
  const groups = new Map<string, Entry[]>();
  for (const entry of entries) {
    const group = groups.get(alike(entry));
    if (group) group.push(entry);
    else groups.set(alike(entry), [entry]);
  }
  return [...groups.values()];
}

/** Causes of which other ones may be the effect. */
const STATES_OF_NODE: ReadonlySet<CauseCode> = new Set([
  'RulesMissing',
  'ConntrackFull',
  'ConntrackOff',
  'ForwardingOff',
]);

/**
 * The reasons: what concerns the node or the whole path first, then what concerns endpoints, of which the equal ones are one line.
 */
function reasonsOf(causes: Explanation['causes'], endpoints: readonly EndpointPath[]): string[] {
  const failed = endpoints.filter(({ cause }) => cause !== undefined && causes.includes(cause));
  const ofEndpoints = new Set(failed.map(({ cause }) => cause));
  const isCause = ({ code }: Cause) => Number(STATES_OF_NODE.has(code));
  const common = causes
    .filter((cause) => !ofEndpoints.has(cause))
    .toSorted((a, b) => isCause(b) - isCause(a))
    .map(({ text }) => text);
  const groups = groupsOf(failed, ({ cause, endpoint }) => general(cause?.text ?? '', endpoint));
  return [
    ...new Set(common),
    ...groups.flatMap((group) => {
      const texts = [...new Set(group.map(({ cause }) => cause?.text ?? ''))];
      if (texts.length < ALIKE) return texts;
      return [`${texts[0]}; and the same for ${texts.length - 1} other endpoints`];
    }),
  ];
}

/** The path to each endpoint. Of many that are alike, the first one stands for all. */
function endpointLines({ steps, endpoints }: Explanation, columns: number): string[] {
  const many = endpoints.length > ALIKE;
  const groups = many
    ? groupsOf(endpoints, alikeOf).flatMap((group) =>
        group.length < ALIKE ? group.map((each) => [each]) : [group],
      )
    : endpoints.map((each) => [each]);
  // Those that fail are more important.
  const isFailing = ([first]: readonly EndpointPath[]) => Number(first?.cause !== undefined);
  const sorted = many ? groups.toSorted((a, b) => isFailing(b) - isFailing(a)) : groups;
  const shown = many ? sorted.slice(0, LISTED) : sorted;
  const hidden = sorted.slice(shown.length).reduce((sum, group) => sum + group.length, 0);
  const lines = shown.flatMap((group, i) => {
    const [first] = group;
    if (!first) return [];
    const own = steps.filter(({ endpoint }) => endpoint === first.endpoint);
    const title = wrapped(endpointLine(first, group), columns, 4);
    if (many && i >= DETAILED) return title;
    const path = stepLines(own, columns - NESTED.length).map((line) => `${NESTED}${line}`);
    return [...title, ...path, ''];
  });
  if (hidden > 0) lines.push(`and ${hidden} more endpoints, see -o json`);
  if (lines.length > 0 && lines.at(-1) !== '') lines.push('');
  return lines;
}

/** What is equal for endpoints that are alike. */
function alikeOf(path: EndpointPath): string {
  const { endpoint, cause, result, selectable, onThisNode, masqueraded, reply, source = '' } = path;
  const text = general(`${cause?.text ?? ''} ${source}`, endpoint);
  return JSON.stringify([text, result, selectable, onThisNode, masqueraded, reply]);
}

/** Spaces before the steps of an endpoint. */
const NESTED = '  ';

function heading(
  { destination: { address, port, protocol } }: Explanation,
  owner: ServiceOfFrontend | undefined,
): string {
  const name =
    owner && ` (Service ${owner.service}${owner.portName === '' ? '' : `, port ${owner.portName}`})`;
  return `${joinHostPort(address, port)}/${protocol}${name ?? ''}`;
}

/** Each step in two columns, and its fact below them. */
function stepLines(steps: readonly Step[], columns: number): string[] {
  const width = Math.max(...steps.map(({ at }) => at.length)) + 2;
  return steps.flatMap(({ at, text, fact }) => [
    ...beside(at, text, width, columns),
    ...(fact === undefined ? [] : shortFact(wrapped(`    ${withoutComment(fact)}`, columns, 8))),
  ]);
}

/** Lines of a rule: a map may have an element for each endpoint. */
const RULE_LINES = 4;

function shortFact(lines: readonly string[]): readonly string[] {
  return lines.length <= RULE_LINES ? lines : [...lines.slice(0, RULE_LINES - 1), '        …'];
}

/** A rule without its comment. */
function withoutComment(rule: string): string {
  return rule.replace(/-m comment --comment ("(?:[^"\\]|\\.)*"|\S+) /, '');
}

/** Verdicts that what was not followed may make worse. */
const REACHES: ReadonlySet<Verdict> = new Set(['connects', 'forwarded', 'partly']);

/** @param group the endpoints that are alike: the first one, and those for which it stands */
function endpointLine(first: EndpointPath, group: readonly EndpointPath[]): string {
  const { endpoint, source, masqueraded, result, selectable, onThisNode } = first;
  const seen = source === undefined ? '' : `, sees ${source}${masqueraded ? ' (masqueraded)' : ''}`;
  const place = onThisNode ? 'this node' : 'another node';
  const others = group.length === 1 ? '' : ` and ${group.length - 1} others alike`;
  return `to ${endpoint}${others}, ${partOf(group)}, ${place}${seen}: ${selectable ? result : 'not selected'}`;
}

/** The weight, or the share, of all endpoints of a group. */
function partOf(group: readonly EndpointPath[]): string {
  const [{ share, weight } = {}] = group;
  if (share !== undefined) {
    const sum = group.reduce((total, each) => total + (each.share ?? 0), 0);
    return `share ${percent(sum)}${group.length === 1 ? '' : ' together'}`;
  }
  const weights = new Set(group.map((each) => each.weight));
  return weights.size === 1 ? `weight ${weight}` : `${weights.size} different weights`;
}

function withoutRepeated(warnings: Explanation['warnings'], causes: Explanation['causes']): string[] {
  const named = new Set(causes.map(({ text }) => text));
  return warnings.map(({ text }) => text).filter((text) => !named.has(text));
}

const VERDICTS: Readonly<Record<Verdict, string>> = {
  connects: 'connects',
  forwarded: 'forwarded (no endpoint was asked)',
  partly: 'forwarded to some endpoints only',
  refused: 'refused',
  hangs: 'hangs (dropped)',
  unreachable: 'no route to host',
  unknown: 'unknown',
};

function verdictLine(explanation: Explanation): string {
  const { verdict, masquerade, endpoints, process, notUnderstood, notJudged } = explanation;
  const selectable = endpoints.filter((each) => each.selectable).map(({ endpoint }) => endpoint);
  const reached =
    selectable.length > LISTED ? [...selectable.slice(0, 3), `${selectable.length - 3} more`] : selectable;
  const parts = [
    `verdict: ${VERDICTS[verdict]}`,
    ...(masquerade === undefined ? [] : [`masquerade: ${masquerade}`]),
    ...(reached.length === 0 ? [] : [`endpoints: ${reached.join(', ')}`]),
    ...(process === undefined ? [] : ['to a process of this node']),
    ...(notUnderstood.length === 0 ? [] : ['if no rule that is not understood decides otherwise']),
    ...(notJudged.length === 0 || !REACHES.has(verdict) ? [] : ['unless what may decide otherwise does']),
  ];
  return parts.join('; ');
}
