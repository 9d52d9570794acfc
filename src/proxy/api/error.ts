// The error of every request to the API server. Its message has no secrets.
import { excerpt } from '../../kernel/errors.js';

/** Facts of a failed request. */
export interface ApiErrorFacts {
  readonly code: string;
  /** The request, `GET https://10.0.0.1:6443/api/v1/services`, or another operation. */
  readonly operation: string;
  /** Message of the system or the server. */
  readonly said?: string | undefined;
  /** HTTP status; 0 when no response came. */
  readonly status?: number;
  /** `reason` of the server's Status object: `Expired`, `Forbidden`. */
  readonly reason?: string | undefined;
  /** Pause that the server asks for, in ms. */
  readonly retryAfter?: number | undefined;
  /** The server's newest version is older than the one that was asked for. */
  readonly tooLarge?: boolean;
  /** Another possible cause: a token file that is unreadable. */
  readonly hint?: string | undefined;
}

/** Characters of a server's answer in a message, at most: a refusal names user, verb, resource and rule. */
const LONGEST_ANSWER = 400;

/**
 * A request that failed. The message starts with the code.
 *
 * Codes: the system's (`ECONNREFUSED`, `CERT_HAS_EXPIRED`), `ERR_STATUS` (the server answered with an error: see
 * `status` and `reason`), `ERR_TIMEOUT` (no connection, answer or data within the limit), `ERR_MALFORMED` (the
 * answer is not as the API promises), `ERR_PROXY` (the HTTP proxy refused), `ERR_CREDENTIALS` (a file, a program
 * or a library gave no credentials).
 */
export class ApiError extends Error {
  readonly code: string;
  readonly status: number;
  readonly reason: string;
  readonly retryAfter: number | undefined;
  /** The server's newest version is older than the one that was asked for (cause `ResourceVersionTooLarge`). */
  readonly tooLarge: boolean;

  constructor(facts: ApiErrorFacts) {
    // Redacted before it is cut: half a token is no longer recognized as one.
    const said = facts.said ? `: ${excerpt(redact(facts.said), LONGEST_ANSWER)}` : '';
    const hint = facts.hint ? ` (${excerpt(redact(facts.hint), LONGEST_ANSWER)})` : '';
    super(redact(`${facts.code}: ${facts.operation}${said}${hint}`));
    this.name = 'ApiError';
    this.code = facts.code;
    this.status = facts.status ?? 0;
    this.reason = facts.reason ?? '';
    this.retryAfter = facts.retryAfter;
    this.tooLarge = facts.tooLarge ?? false;
  }

  /** The server no longer has the version that was asked for: everything has to be listed again. */
  get expired(): boolean {
    return this.status === 410 || this.reason === 'Expired' || this.reason === 'Gone';
  }

  /** The other end closed the connection: nothing is known to be wrong with the request or with the server. */
  get closed(): boolean {
    return this.code === 'ECONNRESET' || this.code === 'EPIPE';
  }

  /** The server asked for a pause before the same request: 429, or an error of its own with Retry-After. */
  get postponed(): boolean {
    return this.retryAfter !== undefined && (this.status === 429 || this.status >= 500);
  }
}

/**
 * What a server says in a refusal, with its status: `410 Expired: too old resource version: 1 (2)`. A reason that the message has too is not
 * repeated: `401 Unauthorized`.
 */
export function refusalText(status: number, message: string, reason = ''): string {
  const isSaid = message.toLowerCase().includes(reason.toLowerCase());
  return [status, isSaid ? message : [reason, message].filter(Boolean).join(': ')].join(' ').trimEnd();
}

/** Any thrown value as an ApiError; another error keeps its code and message. */
export function asApiError(error: unknown, operation: string): ApiError {
  if (error instanceof ApiError) return error;
  // Several addresses were tried, and each failed: the last error is reported.
  const cause = error instanceof AggregateError ? (error.errors.at(-1) ?? error) : error;
  const { code, message } = cause as { code?: unknown; message?: unknown };
  return new ApiError({
    code: typeof code === 'string' ? code : 'ERR_UNEXPECTED',
    operation,
    said: typeof message === 'string' ? message : String(cause),
  });
}

const SECRETS: readonly (readonly [RegExp, string])[] = [
  [/\b(Bearer|Basic)\s+[\w.~+/=-]+/gi, '$1 [redacted]'],
  // A JSON web token, at any place.
  [/\beyJ[\w-]+\.[\w-]+\.[\w-]*/g, '[redacted]'],
  [/(\/\/)[^/@\s]+@/g, '$1[redacted]@'],
  [/-----BEGIN [^-]*PRIVATE KEY-----[\s\S]*?(-----END [^-]*PRIVATE KEY-----|$)/g, '[redacted]'],
];

/** The text without anything that looks like a credential. */
export function redact(text: string): string {
  return SECRETS.reduce((safe, [pattern, instead]) => safe.replace(pattern, instead), text);
}
