// The command plan: the operations that run would carry out, by Service.
import { describeProblem, type Problem } from '../../kernel/errors.js';
import type { PlannedOperation } from '../../proxy/reconcile/plannedOperation.js';
import type { CommandRunner } from './command.js';
import { groupsOf } from './grouping.js';
import { type Layout, textLines, writeReport } from './output/output.js';
import { signedLines } from './output/signs.js';
import { widest } from './output/table.js';
import type { Preview } from './passes.js';
import { preview } from './preview.js';
import { count, describeUnread } from './summary.js';

/** `plan`. */
export const runPlan: CommandRunner = (invocation) =>
  preview(invocation, (found) => {
    const { output } = invocation;
    writeReport(output, planReport(found), (layout) => planLines(found, layout));
  });

/** The result of `plan -o json`. */
export interface PlanReport {
  /**
   * The operations, in the order of their execution: the `phase`, the `key` of the item, the owners of the item (`node`
   * and `services`), the `state` of the item, the `formerMode` that left it, and the `lines` of text.
   */
  readonly operations: readonly PlannedOperation[];
  /** Names of the unreadable inputs. */
  readonly unread: readonly string[];
  /** What clients notice of the change of the mode. Absent: nothing. */
  readonly changes?: readonly string[];
  /** Addresses of Services that the configuration leaves out: what asks for them, and the `rule`. Absent: none. */
  readonly refused?: readonly Pick<Problem, 'object' | 'field' | 'value' | 'rule'>[];
}

/** The report of a preview. */
export function planReport({ operations, unread, changes = [], refused = [] }: Preview): PlanReport {
  const addresses = refused.map(({ object, field, value, rule }) => ({
    ...{ object, field, rule },
    ...(value !== undefined && { value }),
  }));
  return {
    ...{ operations, unread },
    ...(changes.length > 0 && { changes }),
    ...(addresses.length > 0 && { refused: addresses }),
  };
}

/**
 * A plan as text: the operations by Service, and a summary. Services that share an item have a common heading. In a wide one, each
 * line begins with the phase of its operation.
 */
export function planLines(
  { operations, unread, changes = [], refused = [] }: Preview,
  { wide, columns, style }: Layout,
): string[] {
  const unreadLines = describeUnread(unread).flatMap((line) => textLines(line, columns, 2));
  const refusedLines = refused.flatMap((problem) =>
    textLines(`left out: ${describeProblem(problem)}`, columns, 2),
  );
  if (operations.length === 0)
    return [...(unread.length === 0 ? ['nothing would change'] : unreadLines), ...refusedLines];
  const width = widest([...new Set(operations.map(({ phase }) => phase))]);
  const lines = groupsOf(operations).flatMap(({ heading, members }) => [
    ...textLines(heading, columns, 2).map((line) => style('heading', line)),
    ...members.flatMap(({ phase, lines }) => {
      const before = wide ? `  ${phase.padEnd(width)}  ` : '  ';
      return lines
        .flatMap((line) => signedLines(line, columns - before.length, style))
        .map((line) => `${before}${line}`);
    }),
  ]);
  const summary = textLines(summaryOf(operations), columns, 2);
  const changeLines = changes.flatMap((change) =>
    textLines(`with the change of the mode, ${change}`, columns, 2),
  );
  return [...lines, '', ...summary, ...changeLines, ...refusedLines, ...unreadLines];
}

function summaryOf(operations: readonly PlannedOperation[]): string {
  const own = operations.filter(({ formerMode }) => formerMode === undefined);
  const ofNode = own.filter(({ node }) => node).length;
  const ofServices = own.filter(({ node, services }) => !node && services.length > 0);
  const services = new Set(ofServices.flatMap((operation) => operation.services)).size;
  const formerModes = new Set(operations.flatMap(({ formerMode }) => formerMode ?? []));
  const parts: (readonly [number: number, purpose: string])[] = [
    [ofNode, 'for the node'],
    [ofServices.length, `for ${count(services, 'Service')}`],
    [own.length - ofNode - ofServices.length, 'for items that are no longer wanted'],
  ];
  for (const mode of formerModes) {
    const ofMode = operations.filter(({ formerMode }) => formerMode === mode).length;
    parts.push([ofMode, `for items of ${mode} mode, which ran before`]);
  }
  const shown = parts.filter(([number]) => number > 0).map(([number, purpose]) => `${number} ${purpose}`);
  return `${count(operations.length, 'operation')}: ${shown.join(', ')}`;
}
