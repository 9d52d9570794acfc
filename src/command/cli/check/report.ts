// The result of check, for people and as JSON. Pure.
import { describeProblem, type Problem } from '../../../kernel/errors.js';
import { type Layout, textLines } from '../output/output.js';
import { count } from '../summary.js';

/** A problem in a file or on the command line. */
export interface CheckedProblem extends Pick<Problem, 'object' | 'field' | 'value' | 'rule'> {
  /** Path of the file; `command line` for a flag. */
  readonly file: string;
  /** A warning is a field or a flag that is deprecated or has no effect. */
  readonly level: 'error' | 'warning';
}

/** The result of `check -o json`. */
export interface CheckReport {
  /** Paths of the checked files. */
  readonly files: readonly string[];
  /** Paths of the files that cannot be read or are neither YAML nor JSON; each has a problem too. */
  readonly unreadable: readonly string[];
  readonly problems: readonly CheckedProblem[];
}

/** The exit status of a report: 0 without problems, 1 with problems, 2 if a file is unreadable. */
export function checkStatus({ problems, unreadable }: CheckReport, strict: boolean): number {
  if (unreadable.length > 0) return 2;
  return problems.some(({ level }) => strict || level === 'error') ? 1 : 0;
}

/** Each problem, and a summary. */
export function checkLines(
  { files, problems, unreadable }: CheckReport,
  { columns, style }: Pick<Layout, 'columns' | 'style'>,
): string[] {
  const errors = problems.filter(({ level }) => level === 'error').length;
  const warnings = problems.length - errors;
  const counts = [count(errors, 'problem'), ...(warnings > 0 ? [count(warnings, 'warning')] : [])];
  const summary = `${counts.join(' and ')} in ${count(files.length, 'file')}`;
  return [
    ...problems.flatMap((problem) => {
      const { level } = problem;
      const [first = '', ...rest] = textLines(describe(problem), columns, 2);
      return [`${style(level === 'error' ? 'bad' : 'warning', level)}${first.slice(level.length)}`, ...rest];
    }),
    ...(problems.length > 0 ? [''] : []),
    ...(unreadable.length > 0 ? textLines(`unreadable: ${unreadable.join(', ')}`, columns, 2) : []),
    summary,
  ];
}

function describe({ file, level, ...problem }: CheckedProblem): string {
  return `${level}: ${describeProblem({ ...problem, source: file })}`;
}
