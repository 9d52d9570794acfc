// The one error type of everything that speaks to the kernel. Callers match on `code`, never on the message.

/** What is known about a failed kernel operation. */
export interface NetlinkErrorFacts {
  /** Symbolic error: an errno name (`ENOENT`), or `ERR_…` for a failure that has no errno (see {@link NetlinkError.code}). */
  readonly code: string;
  /** The kernel's positive errno; 0 when the failure has none. */
  readonly errno?: number;
  /** The operation, `family.verb`: `ipvs.addRealServer`. */
  readonly operation: string;
  /** What it was done to, in the tools' notation: `tcp 10.96.0.1:443 -> 10.0.0.4:6443`. */
  readonly target?: string | undefined;
  /** What the kernel (extended acknowledgement) or libipset said beside the number. */
  readonly kernelMessage?: string | undefined;
  /** What to do about it: `load the kernel module ip_vs (modprobe ip_vs)`. */
  readonly hint?: string | undefined;
}

/**
 * A kernel operation that failed. The message starts with the code, so that a log line alone is enough to search for.
 *
 * Codes without an errno: `ERR_TIMEOUT` (no reply within the limit), `ERR_CLOSED` (the client was closed),
 * `ERR_UNKNOWN_OUTCOME` (replies were lost after the kernel may have applied the operation: observe before resending),
 * `ERR_MALFORMED_REPLY`, `ERR_INTERRUPTED` (a dump kept changing while it was read), `ERR_LIBRARY` (libipset is missing
 * or unusable), `ERR_IPSET` (libipset refused without naming an errno), `ERR_PROCESS` (iptables failed),
 * `ERR_HELD_BACK` (not tried, since an operation that it depends on failed), `ERR_INVALID_ARGUMENT` (a value that no
 * kernel would take, found before anything was sent).
 */
export class NetlinkError extends Error {
  readonly code: string;
  readonly errno: number;
  readonly operation: string;
  readonly target: string | undefined;
  readonly kernelMessage: string | undefined;
  readonly hint: string | undefined;

  constructor(facts: NetlinkErrorFacts) {
    const target = facts.target ? ` ${facts.target}` : '';
    const said = facts.kernelMessage ? `: ${facts.kernelMessage}` : '';
    const hint = facts.hint ? ` (${facts.hint})` : '';
    super(`${facts.code}: ${facts.operation}${target}${said}${hint}`);
    this.name = 'NetlinkError';
    this.code = facts.code;
    this.errno = facts.errno ?? 0;
    this.operation = facts.operation;
    this.target = facts.target;
    this.kernelMessage = facts.kernelMessage;
    this.hint = facts.hint;
  }
}

/**
 * The effect of a problem: a field is left out, or read as its default; the whole object is left out; the last readable
 * value stays in use; the data is of a kind that does not belong there; a file, or text in it, cannot be read.
 */
export type ProblemReason =
  | 'FieldLeftOut'
  | 'ObjectLeftOut'
  | 'LastReadableKept'
  | 'UnexpectedKind'
  | 'Unreadable';

/** An object of the cluster, as events refer to it. */
export interface ObjectReference {
  readonly apiVersion: string;
  readonly kind: string;
  /** Absent for a Node. */
  readonly namespace?: string;
  readonly name: string;
  /** `metadata.uid`; absent when unknown. */
  readonly uid?: string;
}

/** A value that breaks a rule, found before anything was sent: names the object, the field and the rule. */
export interface Problem {
  /** Where the object came from, when that is known: a file name. */
  readonly source?: string;
  /** Kind and name: `Service demo/web`. */
  readonly object: string;
  /** Path of the field: `spec.ports[0].port`. */
  readonly field: string;
  /** The offending value as it was written. */
  readonly value?: unknown;
  /** The rule it breaks: `must be an integer from 1 to 65535`. */
  readonly rule: string;
  /** Kind of the object, one of those that are read; absent for anything else. */
  readonly kind?: string;
  /** Default `FieldLeftOut`. */
  readonly reason?: ProblemReason;
  /** The object, where it has a name. */
  readonly reference?: ObjectReference;
}

/** One line for people: `web.yaml: Service demo/web: spec.ports[0].port: must be an integer from 1 to 65535, found 70000`. */
export function describeProblem(problem: Problem): string {
  const found = problem.value === undefined ? '' : `, found ${excerpt(JSON.stringify(problem.value))}`;
  const source = problem.source ? `${excerpt(problem.source)}: ` : '';
  return `${source}${excerpt(problem.object)}: ${excerpt(problem.field)}: ${excerpt(problem.rule)}${found}`;
}

/** Characters of input that a message quotes, at most. */
const LONGEST_EXCERPT = 200;

/**
 * Text from outside (a field's value, a parser's message, a server's answer) as a message quotes it: cut, and on one line
 * with control characters escaped, so that no input makes a message long or moves a terminal's cursor.
 *
 * @param most characters
 */
export function excerpt(text: string, most = LONGEST_EXCERPT): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  return shortened(text, most).replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, escaped);
}

/** The beginning of a text that may be long, for messages that escape it in their own way. */
export function shortened(text: string, most = LONGEST_EXCERPT): string {
  if (text.length <= most) return text;
  // A cut must not leave half of a surrogate pair.
  return `${text.slice(0, most).replace(/[\ud800-\udbff]$/, '')}…`;
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
