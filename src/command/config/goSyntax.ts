// Go's syntax for values, in kube-proxy's messages and flags.

/** Go's `%q`: in double quotes, with unprintable characters escaped. */
export function quote(text: string): string {
  return JSON.stringify(text);
}

/** Go's `strconv.ParseBool`; undefined for anything else. */
export function parseBool(text: string): boolean | undefined {
  if (/^(1|t|T|TRUE|true|True)$/.test(text)) return true;
  return /^(0|f|F|FALSE|false|False)$/.test(text) ? false : undefined;
}

/** Go's reason why a text is not a number. */
type NumberError = 'invalid syntax' | 'value out of range';

const BASES: readonly [form: RegExp, base: number][] = [
  [/^0[xX]([0-9a-fA-F]+)$/, 16],
  [/^0[bB]([01]+)$/, 2],
  [/^0[oO]?([0-7]+)$/, 8],
  [/^(0|[1-9][0-9]*)$/, 10],
];

/** Go's `strconv.ParseInt` in base 0: decimal, or `0x`, `0o`, `0b`, and a leading 0 for octal. */
export function parseInteger(text: string, min: number, max: number): number | NumberError {
  const [, sign = '', digits = ''] = /^([+-]?)(.*)$/s.exec(text) ?? [];
  for (const [form, base] of BASES) {
    const found = form.exec(digits)?.[1];
    if (found === undefined) continue;
    const value = Number.parseInt(found, base) * (sign === '-' ? -1 : 1);
    return value < min || value > max ? 'value out of range' : value || 0;
  }
  return 'invalid syntax';
}

/** Go's largest int32. */
export const MAX_INT32 = 2 ** 31 - 1;
/** Go's smallest int32. */
export const MIN_INT32 = -(2 ** 31);

/** Whether a number is in the range of Go's float32. */
export function isFloat32(value: number): boolean {
  return Number.isFinite(Math.fround(value));
}

/** Go's `net.SplitHostPort`; Go's error as text if it fails. */
export function splitHostPort(text: string): { readonly host: string; readonly port: string } | string {
  const failure = (why: string) => `address ${text}: ${why}`;
  const colon = text.lastIndexOf(':');
  if (colon < 0) return failure('missing port in address');
  const bracketed = text.startsWith('[');
  const end = bracketed ? text.indexOf(']') : colon;
  if (end < 0) return failure("missing ']' in address");
  if (bracketed && end + 1 !== colon) {
    return failure(text[end + 1] === ':' ? 'too many colons in address' : 'missing port in address');
  }
  const host = text.slice(bracketed ? 1 : 0, end);
  if (!bracketed && host.includes(':')) return failure('too many colons in address');
  if (text.slice(bracketed ? 1 : 0).includes('[')) return failure("unexpected '[' in address");
  if (text.slice(bracketed ? end + 1 : 0).includes(']')) return failure("unexpected ']' in address");
  return { host, port: text.slice(colon + 1) };
}

const FILE_ERRORS: Readonly<Record<string, string>> = {
  ENOENT: 'no such file or directory',
  EACCES: 'permission denied',
};

/** Go's error for a file that cannot be opened: `open /x: no such file or directory`. */
export function fileError(error: unknown, path: string): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'EISDIR') return `read ${path}: is a directory`;
  return `open ${path}: ${FILE_ERRORS[code ?? ''] ?? message}`;
}
