// The types of flags, with the syntax and messages of Go's pflag.
import { canonicalAddress } from '../../kernel/net/address.js';
import { durationError, parseDuration } from './duration.js';
import { isQuantity, QUANTITY_RULE } from './fieldTypes.js';
import type { FlagTypeName, FlagValue, VerbosityPattern } from './flags.js';
import {
  isFloat32,
  MAX_INT32,
  MIN_INT32,
  parseBool,
  parseInteger,
  quote,
  splitHostPort,
} from './goSyntax.js';
import { isPortRange } from './validation.js';

/** The value of a text, or the reason why it has none, in kube-proxy's words. */
type ReadResult = { readonly value: FlagValue } | { readonly error: string };

/** A type of flags. */
interface FlagType {
  /** The value's placeholder in `--help`; empty if the flag needs no value. */
  readonly placeholder: string;
  /** Reads a value; `before` is the flag's value so far. */
  read(text: string, before: FlagValue | undefined): ReadResult;
}

const parseError = (parser: string, text: string, reason: string) => ({
  error: `strconv.${parser}: parsing ${quote(text)}: ${reason}`,
});

/** The types of flags. */
export const FLAG_TYPES: Readonly<Record<FlagTypeName, FlagType>> = {
  string: { placeholder: 'string', read: (text) => ({ value: text }) },
  bool: { placeholder: '', read: readBool },
  /** `--version`: a boolean, or `raw`. */
  version: { placeholder: '', read: (text) => (text === 'raw' ? { value: text } : readBool(text)) },
  int32: {
    placeholder: 'int32',
    read(text) {
      const value = parseInteger(text, MIN_INT32, MAX_INT32);
      return typeof value === 'string' ? parseError('ParseInt', text, value) : { value };
    },
  },
  float32: {
    placeholder: 'float32',
    read(text) {
      const form = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;
      if (!form.test(text)) return parseError('ParseFloat', text, 'invalid syntax');
      const value = Number(text);
      return isFloat32(value) ? { value } : parseError('ParseFloat', text, 'value out of range');
    },
  },
  duration: {
    placeholder: 'duration',
    read(text) {
      const value = parseDuration(text);
      return value === undefined ? { error: durationError(text) } : { value };
    },
  },
  /** An IP address; empty text changes nothing. */
  ip: {
    placeholder: 'ip',
    read(text, before) {
      if (text === '') return { value: before ?? '' };
      return canonicalAddress(text) === undefined
        ? { error: `${quote(text)} is not a valid IP address` }
        : { value: text };
    },
  },
  /** An IP address with or without a port; empty text changes nothing. */
  ipport: {
    placeholder: 'ipport',
    read(text, before) {
      if (text === '') return { value: before ?? '' };
      if (canonicalAddress(text) !== undefined) return { value: text };
      const parts = splitHostPort(text);
      if (typeof parts === 'string') {
        return { error: `${quote(text)} is not in a valid format (ip or ip:port): ${parts}` };
      }
      if (canonicalAddress(parts.host) === undefined) {
        return { error: `${quote(parts.host)} is not a valid IP address` };
      }
      const port = /^\d+$/.test(parts.port) ? Number(parts.port) : Number.NaN;
      return port <= 65_535 ? { value: text } : { error: `${quote(parts.port)} is not a valid number` };
    },
  },
  'port-range': {
    placeholder: 'port-range',
    read: (text) =>
      isPortRange(text) ? { value: text } : { error: `${quote(text)} is not a valid port range` },
  },
  /** Values separated by commas; a repeated flag appends to the list. */
  strings: {
    placeholder: 'strings',
    read: (text, before) => ({
      value: [...((before as readonly string[] | undefined) ?? []), ...(text === '' ? [] : text.split(','))],
    }),
  },
  /** `Name=true,Other=false`; a repeated flag adds to the map. */
  mapStringBool: { placeholder: 'mapStringBool', read: readGates },
  /** A log level. */
  level: {
    placeholder: 'Level',
    read(text) {
      const value = readLevel(text);
      return typeof value === 'string' ? parseError('ParseUint', text, value) : { value };
    },
  },
  /** `file=2,other*=3`; a repeated flag appends to the list. */
  vmodule: { placeholder: 'pattern=N,...', read: readPatterns },
  quantity: {
    placeholder: 'quantity',
    read: (text) => (isQuantity(text) ? { value: text } : { error: QUANTITY_RULE }),
  },
};

function readBool(text: string): ReadResult {
  const value = parseBool(text);
  return value === undefined ? parseError('ParseBool', text, 'invalid syntax') : { value };
}

function readLevel(text: string) {
  return /^\d+$/.test(text) ? parseInteger(text.replace(/^0+(?=\d)/, ''), 0, MAX_INT32) : 'invalid syntax';
}

function readGates(text: string, before: FlagValue | undefined): ReadResult {
  const gates: Record<string, boolean> = { ...(before as Readonly<Record<string, boolean>> | undefined) };
  for (const pair of text.split(',').filter(Boolean)) {
    const [, name = '', written = ''] = /^([^=]*)=(.*)$/s.exec(pair) ?? [];
    if (!pair.includes('=')) return { error: 'malformed pair, expect string=bool' };
    const value = parseBool(written.trim());
    if (value === undefined) {
      const { error } = parseError('ParseBool', written.trim(), 'invalid syntax');
      return { error: `invalid value of ${name.trim()}: ${written.trim()}, err: ${error}` };
    }
    gates[name.trim()] = value;
  }
  return { value: gates };
}

function readPatterns(text: string, before: FlagValue | undefined): ReadResult {
  const patterns = [...((before as readonly VerbosityPattern[] | undefined) ?? [])];
  for (const entry of text.split(',').filter(Boolean)) {
    const [filePattern = '', written = '', ...more] = entry.split('=');
    if (filePattern === '' || written === '' || more.length > 0) {
      return { error: `${quote(entry)} does not have the pattern=N format` };
    }
    const verbosity = readLevel(written);
    if (typeof verbosity === 'string') {
      return {
        error: `parsing verbosity in ${quote(entry)}: ${parseError('ParseUint', written, verbosity).error}`,
      };
    }
    patterns.push({ filePattern, verbosity });
  }
  return { value: patterns };
}
