// The command line, and the file it may name → the configuration to run with.
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { parse } from 'yaml';
import { describeProblem } from '../errors.js';
import { isRecord } from '../fields.js';
import { type Configuration, decodeConfiguration } from './configuration.js';
import { type KernelCommand, UsageError } from './flags.js';

/** The configuration, with the node's name settled. Throws UsageError with every problem, a line each. */
export function loadConfiguration(command: KernelCommand): {
  readonly configuration: Configuration;
  readonly nodeName: string;
} {
  const raw = command.config === undefined ? command.configuration : readFile(command.config);
  const { configuration, problems } = decodeConfiguration(raw);
  if (problems.length > 0) throw new UsageError(problems.map(describeProblem).join('\n'));
  const nodeName =
    command.hostnameOverride || configuration.hostnameOverride || hostname().trim().toLowerCase();
  return { configuration, nodeName };
}

function readFile(path: string): Record<string, unknown> {
  let raw: unknown;
  try {
    raw = parse(readFileSync(path, 'utf8'), { version: '1.1' });
  } catch (error) {
    throw new UsageError(`--config ${path}: ${(error as Error).message}`);
  }
  if (!isRecord(raw) || raw['kind'] !== 'KubeProxyConfiguration') {
    throw new UsageError(`--config ${path}: kind must be KubeProxyConfiguration`);
  }
  return raw;
}
