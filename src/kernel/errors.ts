// The error of kernel operations, and problems of input. Callers match on `code`, never on the message.
import { checkArgument, optional, partOf, ruled } from './shapes.js';

/** Facts about a failed kernel operation. */
export interface NetlinkErrorFacts {
  /** Symbolic error: an errno name (`ENOENT`), or `ERR_…` for a failure that has no errno (see {@link NetlinkError.code}). */
  readonly code: string;
  /** The kernel's positive errno; 0 when the failure has none. */
  readonly errno?: number;
  /** The operation, `family.verb`: `ipvs.addRealServer`. */
  readonly operation: string;
  /** Its object, in the tools' notation: `tcp 10.96.0.1:443 -> 10.0.0.4:6443`. */
  readonly target?: string | undefined;
  /** The message of the kernel (extended acknowledgement) or of libipset. */
  readonly kernelMessage?: string | undefined;
  /** The action that may help: `load the kernel module ip_vs (modprobe ip_vs)`. */
  readonly hint?: string | undefined;
}

/**
 * A failed kernel operation. The message starts with the code, so that log lines can be searched by it.
 *
 * Codes without an errno: `ERR_TIMEOUT` (no reply within the limit), `ERR_CLOSED` (the client was closed),
 * `ERR_UNKNOWN_OUTCOME` (the reply was lost, and the kernel may have applied the operation: read the state before you repeat it),
 * `ERR_MALFORMED_REPLY`, `ERR_INTERRUPTED` (the state changed during every attempt to dump it), `ERR_LIBRARY` (libipset is missing
 * or unusable), `ERR_IPSET` (libipset failed without an errno), `ERR_PROCESS` (iptables failed),
 * `ERR_HELD_BACK` (not sent, because an operation that it depends on failed), `ERR_ROLLED_BACK` (undone, because another
 * operation of its transaction failed), `ERR_INVALID_ARGUMENT` (a value that every kernel rejects; nothing was sent).
 */
export class NetlinkError extends Error {
  /** An errno name, or one of those above. */
  readonly code: string;
  /** The kernel's number; 0 without one. */
  readonly errno: number;
  /** `family.verb`: `ipvs.addRealServer`. */
  readonly operation: string;
  /** Its object, in the tools' notation. */
  readonly target: string | undefined;
  /** The message of the kernel or of libipset. */
  readonly kernelMessage: string | undefined;
  /** The action that may help. */
  readonly hint: string | undefined;

  constructor(facts: NetlinkErrorFacts) {
    const { target } = facts;
    const before = `${facts.code}: ${facts.operation}${target ? ' ' : ''}`;
    const kernelMessage = facts.kernelMessage ? `: ${facts.kernelMessage}` : '';
    const hint = facts.hint && facts.hint !== facts.kernelMessage ? ` (${facts.hint})` : '';
    // Joined at once, and the target is a part of it: V8 keeps a text that was added from parts as a tree of them, and the
    // collections of garbage that copy the trees of 1000 errors block the event loop.
    const message = [before, target, kernelMessage, hint].join('');
    super(message);
    this.name = 'NetlinkError';
    this.code = facts.code;
    this.errno = facts.errno ?? 0;
    this.operation = facts.operation;
    this.target = target && message.slice(before.length, before.length + target.length);
    this.kernelMessage = facts.kernelMessage;
    this.hint = facts.hint;
  }
}

/** An error for people whose cure is known: commands print `nextStep` below the message, in a line of its own. */
export class ErrorWithNextStep extends Error {
  /** An instruction without a period. */
  readonly nextStep: string | undefined;

  constructor(message: string, nextStep?: string) {
    super(message);
    this.nextStep = nextStep;
  }
}

/**
 * The error code of a correct operation that was rolled back because another operation of its transaction failed. It can be
 * repeated at once without the failed one.
 */
export const ROLLED_BACK = 'ERR_ROLLED_BACK';

/**
 * The effect of a problem: a field is ignored or has its default; the whole object is ignored; the last readable value
 * stays in use; the data has an unexpected kind; a file, or a document in it, is unreadable.
 */
export type ProblemReason =
  | 'FieldLeftOut'
  | 'ObjectLeftOut'
  | 'LastReadableKept'
  | 'UnexpectedKind'
  | 'Unreadable';

/** A reference to an object of the cluster, as events have it. */
export interface ObjectReference {
  readonly apiVersion: string;
  readonly kind: string;
  /** Absent for a Node. */
  readonly namespace?: string;
  readonly name: string;
  /** `metadata.uid`; absent when unknown. */
  readonly uid?: string;
}

/** An invalid value in the input: the object, the field and the rule that it breaks. */
export interface Problem {
  /** The origin of the object, if known: a file name. */
  readonly source?: string;
  /** Kind and name: `Service demo/web`. */
  readonly object: string;
  /** Path of the field: `spec.ports[0].port`. */
  readonly field: string;
  /** The invalid value. */
  readonly value?: unknown;
  /** The rule that it breaks: `must be an integer from 1 to 65535`. */
  readonly rule: string;
  /** The rule as events in the object's namespace may state it; default `rule`. */
  readonly publicRule?: string;
  /** Kind of the object, if the proxy reads that kind. */
  readonly kind?: string;
  /** Default `FieldLeftOut`. */
  readonly reason?: ProblemReason;
  /** Reference to the object, if it has a name. */
  readonly reference?: ObjectReference;
}

const TEXT_OF_PROBLEM = ruled('string', 'must be a text');
const PROBLEM = partOf({
  source: optional(TEXT_OF_PROBLEM),
  object: TEXT_OF_PROBLEM,
  field: TEXT_OF_PROBLEM,
  rule: TEXT_OF_PROBLEM,
});

/** The problem on one line: `web.yaml: Service demo/web: spec.ports[0].port: must be an integer from 1 to 65535, found 70000`. */
export function describeProblem(problem: Problem): string {
  checkArgument('describeProblem', 'problem', problem, PROBLEM);
  const found = problem.value === undefined ? '' : `, found ${excerpt(asJson(problem.value))}`;
  const source = problem.source ? `${excerpt(problem.source)}: ` : '';
  return `${source}${excerpt(problem.object)}: ${excerpt(problem.field)}: ${excerpt(problem.rule)}${found}`;
}

/** A value as JSON. One that is nested too deeply for it, or contains itself, must not stop the report of its problem. */
function asJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return 'a value without end';
  }
}

/** Default maximum length of an excerpt, in characters. */
const MAX_EXCERPT = 200;

/**
 * External text (the value of a field, a parser's message, a server's response) for use in a message: truncated, on one
 * line, and with control characters escaped, so that no input makes a message long or moves a terminal's cursor.
 *
 * @param max length, in characters
 */
export function excerpt(text: string, max = MAX_EXCERPT): string {
  return escapedControls(shortened(text, max));
}

/** Text on one line: control characters, and those that change the direction of text, are escaped as in JSON. */
export function escapedControls(text: string): string {
  return text.replace(CONTROLS, escaped);
}

/** The text with its own line breaks; its other controls are escaped as by {@link escapedControls}. */
export function escapedLines(text: string): string {
  return text.split('\n').map(escapedControls).join('\n');
}

/** Controls of C0 and C1, line separators, directions, halves of surrogate pairs. */
const CONTROLS =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern matches them on purpose.
  /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** Text truncated to a length in characters, for messages that escape it themselves. */
export function shortened(text: string, max = MAX_EXCERPT): string {
  if (text.length <= max) return text;
  // Do not keep half of a surrogate pair.
  return `${text.slice(0, max).replace(/[\ud800-\udbff]$/, '')}…`;
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
