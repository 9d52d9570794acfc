// A rule of iptables-save in its parts: conditions and target. Source: iptables(8), iptables-extensions(8).

/** One condition of a rule: an option with its values, in the notation of iptables-save. */
export interface Condition {
  /** The option: `-s`, `--match-set`. */
  readonly option: string;
  readonly values: readonly string[];
  /** Preceded by `!`. */
  readonly negated: boolean;
}

/** A rule. */
export interface Rule {
  readonly conditions: readonly Condition[];
  /** Target or chain; undefined for a rule that only counts packets. */
  readonly target?: string;
  /** `-g`: a return from the chain continues after the caller. */
  readonly goto: boolean;
  /** The options of the target, by name without dashes: `set-xmark` → `0x4000/0x4000`. */
  readonly targetOptions: ReadonlyMap<string, string>;
}

/** Options that are not conditions: the name of a match, and a comment. Both have one value. */
const SILENT: ReadonlySet<string> = new Set(['-m', '--comment']);

/** Reads a rule: everything after `-A CHAIN `. */
export function readRule(text: string): Rule {
  const options = optionsOf(wordsOf(text));
  const end = options.findIndex(({ option }) => option === '-j' || option === '-g');
  const jump = options[end];
  const conditions = (end < 0 ? options : options.slice(0, end)).filter(({ option }) => !SILENT.has(option));
  if (!jump) return { conditions, goto: false, targetOptions: new Map() };
  return {
    conditions,
    target: jump.values[0] ?? '',
    goto: jump.option === '-g',
    targetOptions: new Map(
      options.slice(end + 1).map(({ option, values }) => [option.replace(/^-+/, ''), values.join(' ')]),
    ),
  };
}

/** The value of an option of a rule; undefined if the rule does not have it. */
export function optionValue(conditions: readonly Condition[], option: string): string | undefined {
  return conditions.find((condition) => condition.option === option)?.values[0];
}

/** The comment of a rule, without quotes; empty if it has none. */
export function commentIn(text: string): string {
  const words = wordsOf(text);
  const at = words.findIndex(([word, quoted]) => word === '--comment' && !quoted);
  return at < 0 ? '' : (words[at + 1]?.[0] ?? '');
}

/** A condition as iptables-save prints it. */
export function conditionText({ option, values, negated }: Condition): string {
  return [...(negated ? ['!'] : []), option, ...values].join(' ');
}

/** Words, each with whether it was in quotes: a quoted word is never an option. */
type Word = readonly [text: string, quoted: boolean];

/** Splits at spaces, except in double quotes, in which a backslash escapes. */
function wordsOf(text: string): Word[] {
  return [...text.matchAll(/"((?:[^"\\]|\\.)*)"|(\S+)/g)].map(([, quoted, plain]) =>
    quoted === undefined ? [plain ?? '', false] : [quoted.replace(/\\(.)/g, '$1'), true],
  );
}

function optionsOf(words: readonly Word[]): Condition[] {
  const options: { option: string; values: string[]; negated: boolean }[] = [];
  let negated = false;
  for (const [word, quoted] of words) {
    if (!quoted && word === '!') {
      negated = true;
    } else if (!quoted && /^-{1,2}[a-zA-Z]/.test(word)) {
      options.push({ option: word, values: [], negated });
      negated = false;
    } else {
      options.at(-1)?.values.push(word);
    }
  }
  return options;
}
