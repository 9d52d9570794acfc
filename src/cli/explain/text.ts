// An explanation as text for people.

import { beside, wrapped } from '../../config/wrap.js';
import type { EndpointPath, Explanation, Step, Verdict } from '../../explain/explanation.js';
import { percent } from '../../explain/packet/conditions.js';
import { joinHostPort } from '../../net/address.js';

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
 * The lines of an explanation: the packet, its path, the path to each endpoint, the reasons, and the verdict.
 *
 * @param columns of the longest line, unless a word is longer
 */
export function explanationLines(
  explanation: Explanation,
  owner: ServiceOfFrontend | undefined,
  columns: number,
): string[] {
  const { client, steps, endpoints, causes, warnings, notUnderstood } = explanation;
  const reasons = [...causes.map(({ text }) => text), ...(owner?.reason === undefined ? [] : [owner.reason])];
  const section = (title: string, lines: readonly string[]) =>
    lines.length === 0 ? [] : [`${title}:`, ...lines.flatMap((line) => wrapped(`  ${line}`, columns, 4)), ''];
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
    ...endpoints.flatMap((each) => [
      ...wrapped(endpointLine(each), columns, 4),
      ...stepLines(
        steps.filter(({ endpoint }) => endpoint === each.endpoint),
        columns - NESTED.length,
      ).map((line) => `${NESTED}${line}`),
      '',
    ]),
    ...section(
      'rules that are not understood, and were skipped',
      notUnderstood.map(({ at, rule, part }) => `${at}: ${part}   [${rule}]`),
    ),
    ...section('also wrong on this node', withoutRepeated(warnings, causes)),
    ...section('because', reasons),
    ...wrapped(verdictLine(explanation), columns, 2),
  ];
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
    ...(fact === undefined ? [] : wrapped(`    ${withoutComment(fact)}`, columns, 8)),
  ]);
}

/** A rule without its comment. */
function withoutComment(rule: string): string {
  return rule.replace(/-m comment --comment ("(?:[^"\\]|\\.)*"|\S+) /, '');
}

function endpointLine({
  endpoint,
  weight,
  share,
  source,
  masqueraded,
  result,
  selectable,
  onThisNode,
}: EndpointPath): string {
  const seen = source === undefined ? '' : `, sees ${source}${masqueraded ? ' (masqueraded)' : ''}`;
  const place = onThisNode ? 'this node' : 'another node';
  const part = share === undefined ? `weight ${weight}` : `share ${percent(share)}`;
  return `to ${endpoint}, ${part}, ${place}${seen}: ${selectable ? result : 'not selected'}`;
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

function verdictLine({ verdict, masquerade, endpoints, process, notUnderstood }: Explanation): string {
  const reached = endpoints.filter(({ selectable }) => selectable).map(({ endpoint }) => endpoint);
  const parts = [
    `verdict: ${VERDICTS[verdict]}`,
    ...(masquerade === undefined ? [] : [`masquerade: ${masquerade}`]),
    ...(reached.length === 0 ? [] : [`endpoints: ${reached.join(', ')}`]),
    ...(process === undefined ? [] : ['to a process of this node']),
    ...(notUnderstood.length === 0 ? [] : ['if no rule that is not understood decides otherwise']),
  ];
  return parts.join('; ');
}
