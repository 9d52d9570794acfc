// Rules as nft lists them, from their expressions.
import type { Expression, Rule } from '../../types.js';
import type { Need } from '../known.js';
import { plainStatement } from '../statements.js';
import type { Of } from './loaded.js';
import { loads } from './loading.js';
import { PrintedRule, type Surroundings } from './printed.js';
import { rangeText } from './registers.js';
import { statementText } from './statement.js';

/** The text of a rule without its comment. What has no notation here is in brackets: `[xt match]`. */
export function ruleText(
  { family, expressions }: Pick<Rule, 'family' | 'expressions'>,
  surroundings: Surroundings,
): string {
  const rule = new PrintedRule(family, surroundings);
  for (let i = 0; i < expressions.length; i++) {
    const expression = expressions[i] as Expression;
    if (isInterval(expression, expressions[i + 1])) {
      const [from, to] = [expression, expressions[++i] as Of<'cmp'>];
      rule.add(rangeText(rule.source(from.source), true, from.data, to.data));
    } else if (!loads(rule, expression)) addStatement(rule, expression);
  }
  // A loading may end the rule, as a comparison does: of packets that are too short, there is no value.
  for (const { text } of rule.registers.unused) rule.add(`[${text} without a statement]`);
  return rule.statements.join(' ');
}

/** Expressions that only compare: of those between two of them, the order means nothing. */
const CONDITIONS: ReadonlySet<Expression['kind']> = new Set(['cmp', 'range', 'lookup']);
/** Statements after which an earlier value is still the same. */
const UNCHANGING: ReadonlySet<Expression['kind']> = new Set<Expression['kind']>([
  ...CONDITIONS,
  ...(['counter', 'limit', 'quota', 'log', 'objref', 'objrefMap', 'connlimit', 'verdict', 'reject'] as const),
]);

/** `IPPROTO_TCP` */
const TCP = 6;

/** Whether two comparisons are one with an interval. */
function isInterval(first: Expression, second: Expression | undefined): first is Of<'cmp'> {
  return (
    first.kind === 'cmp' &&
    first.operator === 'gte' &&
    second?.kind === 'cmp' &&
    second.operator === 'lte' &&
    second.source === first.source
  );
}

function addStatement(rule: PrintedRule, expression: Expression): void {
  const isOfOne = rule.family === 'ip' || rule.family === 'ip6';
  if (expression.kind === 'reject' && !canReject(rule, expression.type, isOfOne)) {
    rule.add(`[reject with ${expression.type}]`);
    return;
  }
  const text = plainStatement(expression, rule.network, isOfOne) ?? statementText(rule, expression);
  if (!CONDITIONS.has(expression.kind)) rule.conditions.keep();
  if (!UNCHANGING.has(expression.kind)) rule.registers.forget();
  rule.add(text);
}

/** Whether the packets are those of which a reader takes the rejection to be. */
function canReject(rule: PrintedRule, type: Of<'reject'>['type'], isOfOne: boolean): boolean {
  if (type === 'icmpx') return true;
  if (type === 'icmp') {
    if (rule.network) rule.leaveOut([{ layer: 'network', network: rule.network }]);
    return rule.network !== undefined;
  }
  const needs: readonly Need[] = [{ layer: 'transport', protocol: TCP }];
  if (isOfOne) rule.leaveOut(needs);
  return rule.conditions.has(needs);
}
