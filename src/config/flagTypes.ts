// The types of flags: how each reads its text, and what kube-proxy says of a text that it cannot read.
import { canonicalAddress } from '../net/address.js';
import { durationFault, parseDuration } from './duration.js';
import {
  isFloat32,
  MAX_INT32,
  MIN_INT32,
  parseBool,
  parseInteger,
  quote,
  splitHostPort,
} from './goSyntax.js';
import { isQuantity, QUANTITY_RULE } from './kinds.js';
import { isPortRange } from './validation.js';

/** What a flag can say: durations in ms, lists, gates by name. */
export type FlagValue =
  | string
  | number
  | boolean
  | readonly string[]
  | Readonly<Record<string, boolean>>
  | readonly VerbosityPattern[];

/** An entry of `--vmodule`. */
export interface VerbosityPattern {
  readonly filePattern: string;
  readonly verbosity: number;
}

/** What came of a text: its value, or why it has none. */
export type FlagResult = { readonly value: FlagValue } | { readonly fault: string };

/** A type of flags. */
export interface FlagType {
  /** Stands for the value in `--help`; empty where a flag needs none. */
  readonly shown: string;
  /** What the flag says without a value; undefined where it needs one. */
  readonly alone?: string;
  /** Reads a value; `before` is what the flag has said so far. */
  parse(text: string, before: FlagValue | undefined): FlagResult;
}

const parsing = (how: string, text: string, fault: string) => ({
  fault: `strconv.${how}: parsing ${quote(text)}: ${fault}`,
});

/** The types, by pflag's names for them. */
export const FLAG_TYPES = {
  string: { shown: 'string', parse: (text) => ({ value: text }) },
  bool: { shown: '', alone: 'true', parse: parseCondition },
  /** `--version`: a condition, or `raw`. */
  version: {
    shown: '',
    alone: 'true',
    parse: (text) => (text === 'raw' ? { value: text } : parseCondition(text)),
  },
  int32: {
    shown: 'int32',
    parse(text) {
      const value = parseInteger(text, MIN_INT32, MAX_INT32);
      return typeof value === 'string' ? parsing('ParseInt', text, value) : { value };
    },
  },
  float32: {
    shown: 'float32',
    parse(text) {
      const form = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;
      if (!form.test(text)) return parsing('ParseFloat', text, 'invalid syntax');
      const value = Number(text);
      return isFloat32(value) ? { value } : parsing('ParseFloat', text, 'value out of range');
    },
  },
  duration: {
    shown: 'duration',
    parse(text) {
      const value = parseDuration(text);
      return value === undefined ? { fault: durationFault(text) } : { value };
    },
  },
  /** An address; empty text says nothing. */
  ip: {
    shown: 'ip',
    parse(text, before) {
      if (text === '') return { value: before ?? '' };
      return canonicalAddress(text) === undefined
        ? { fault: `${quote(text)} is not a valid IP address` }
        : { value: text };
    },
  },
  /** An address with or without a port; empty text says nothing. */
  ipport: {
    shown: 'ipport',
    parse(text, before) {
      if (text === '') return { value: before ?? '' };
      if (canonicalAddress(text) !== undefined) return { value: text };
      const parts = splitHostPort(text);
      if (typeof parts === 'string') {
        return { fault: `${quote(text)} is not in a valid format (ip or ip:port): ${parts}` };
      }
      if (canonicalAddress(parts.host) === undefined) {
        return { fault: `${quote(parts.host)} is not a valid IP address` };
      }
      const port = /^\d+$/.test(parts.port) ? Number(parts.port) : Number.NaN;
      return port <= 65_535 ? { value: text } : { fault: `${quote(parts.port)} is not a valid number` };
    },
  },
  'port-range': {
    shown: 'port-range',
    parse: (text) =>
      isPortRange(text) ? { value: text } : { fault: `${quote(text)} is not a valid port range` },
  },
  /** Values separated by commas; a flag that is repeated adds to the list. */
  strings: {
    shown: 'strings',
    parse: (text, before) => ({
      value: [...((before as readonly string[] | undefined) ?? []), ...(text === '' ? [] : text.split(','))],
    }),
  },
  /** `Name=true,Other=false`; a flag that is repeated adds to them. */
  mapStringBool: { shown: 'mapStringBool', parse: parseGates },
  /** A log level. */
  level: {
    shown: 'Level',
    parse(text) {
      const value = readLevel(text);
      return typeof value === 'string' ? parsing('ParseUint', text, value) : { value };
    },
  },
  /** `file=2,other*=3`; a flag that is repeated adds to them. */
  vmodule: { shown: 'pattern=N,...', parse: parsePatterns },
  /** How a result is printed. */
  output: {
    shown: 'text|json',
    parse: (text) =>
      text === 'text' || text === 'json'
        ? { value: text }
        : { fault: `${quote(text)} is neither text nor json` },
  },
  quantity: {
    shown: 'quantity',
    parse: (text) => (isQuantity(text) ? { value: text } : { fault: QUANTITY_RULE }),
  },
} as const satisfies Readonly<Record<string, FlagType>>;

function parseCondition(text: string): FlagResult {
  const value = parseBool(text);
  return value === undefined ? parsing('ParseBool', text, 'invalid syntax') : { value };
}

function readLevel(text: string) {
  return /^\d+$/.test(text) ? parseInteger(text.replace(/^0+(?=\d)/, ''), 0, MAX_INT32) : 'invalid syntax';
}

function parseGates(text: string, before: FlagValue | undefined): FlagResult {
  const gates: Record<string, boolean> = { ...(before as Readonly<Record<string, boolean>> | undefined) };
  for (const pair of text.split(',').filter(Boolean)) {
    const [, name = '', written = ''] = /^([^=]*)=(.*)$/s.exec(pair) ?? [];
    if (!pair.includes('=')) return { fault: 'malformed pair, expect string=bool' };
    const value = parseBool(written.trim());
    if (value === undefined) {
      const { fault } = parsing('ParseBool', written.trim(), 'invalid syntax');
      return { fault: `invalid value of ${name.trim()}: ${written.trim()}, err: ${fault}` };
    }
    gates[name.trim()] = value;
  }
  return { value: gates };
}

function parsePatterns(text: string, before: FlagValue | undefined): FlagResult {
  const patterns = [...((before as readonly VerbosityPattern[] | undefined) ?? [])];
  for (const entry of text.split(',').filter(Boolean)) {
    const [filePattern = '', written = '', ...more] = entry.split('=');
    if (filePattern === '' || written === '' || more.length > 0) {
      return { fault: `${quote(entry)} does not have the pattern=N format` };
    }
    const verbosity = readLevel(written);
    if (typeof verbosity === 'string') {
      return {
        fault: `parsing verbosity in ${quote(entry)}: ${parsing('ParseUint', written, verbosity).fault}`,
      };
    }
    patterns.push({ filePattern, verbosity });
  }
  return { value: patterns };
}
