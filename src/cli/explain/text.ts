// An explanation as text for people.
import type { EndpointPath, Explanation, Step, Verdict } from '../../modes/explanation.js';
import { percent } from '../../modes/shared/packet/conditions.js';
import { joinHostPort } from '../../net/address.js';

/** The Service of the destination, from the objects. */
export interface ServiceOfFrontend {
  /** `namespace/name`. */
  readonly service: string;
  readonly portName: string;
  /** Why it has no real server, if the objects show the reason. */
  readonly reason?: string;
}

/** The lines of an explanation: the packet, its path, the path to each endpoint, the reasons, and the verdict. */
export function explanationLines(explanation: Explanation, owner: ServiceOfFrontend | undefined): string[] {
  const { client, steps, endpoints, causes, warnings, notUnderstood } = explanation;
  const reasons = [...causes.map(({ text }) => text), ...(owner?.reason === undefined ? [] : [owner.reason])];
  return [
    heading(explanation, owner),
    `client ${client.address}: ${client.reason}`,
    '',
    ...stepLines(steps.filter(({ at, endpoint }) => at !== 'client' && endpoint === undefined)),
    '',
    ...endpoints.flatMap((each) => [
      endpointLine(each),
      ...stepLines(steps.filter(({ endpoint }) => endpoint === each.endpoint)).map((line) => `  ${line}`),
      '',
    ]),
    ...section(
      'rules that are not understood, and were skipped',
      notUnderstood.map(({ at, rule, part }) => `${at}: ${part}   [${rule}]`),
    ),
    ...section('also wrong on this node', withoutRepeated(warnings, causes)),
    ...section('because', reasons),
    verdictLine(explanation),
  ];
}

function heading(
  { destination: { address, port, protocol } }: Explanation,
  owner: ServiceOfFrontend | undefined,
): string {
  const name =
    owner && ` (Service ${owner.service}${owner.portName === '' ? '' : `, port ${owner.portName}`})`;
  return `${joinHostPort(address, port)}/${protocol}${name ?? ''}`;
}

/** A line for each step, and a line for its fact. */
function stepLines(steps: readonly Step[]): string[] {
  const width = Math.max(...steps.map(({ at }) => at.length)) + 2;
  return steps.flatMap(({ at, text, fact }) => [
    `${at.padEnd(width)}${text}`,
    ...(fact === undefined ? [] : [`${' '.repeat(width)}  ${withoutComment(fact)}`]),
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

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [`${title}:`, ...lines.map((line) => `  ${line}`), ''];
}

function withoutRepeated(warnings: Explanation['warnings'], causes: Explanation['causes']): string[] {
  const named = new Set(causes.map(({ text }) => text));
  return warnings.map(({ text }) => text).filter((text) => !named.has(text));
}

const VERDICTS: Readonly<Record<Verdict, string>> = {
  connects: 'connects',
  partly: 'connects to some endpoints only',
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
