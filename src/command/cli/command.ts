// A command with its own options: its definition, and the function that runs it.
import type { KernelCommand } from '../config/commandLine.js';
import type { Format, Output } from './output/output.js';

/** Exit status of a command that failed: its input, the kernel or the agent cannot be read, or its arguments are invalid. */
export const FAILED = 2;

/** An option of a command. */
export interface OptionDefinition {
  /** As commander reads it: `-o, --output <format>`. */
  readonly flags: string;
  readonly help: string;
  /** The value without the option, as text. */
  readonly default?: string;
  readonly choices?: readonly string[];
  /** The rule of a numeric value, in the unit of its placeholder. Default: any text. */
  readonly number?: { readonly least: number; readonly whole?: true };
}

/** Names of the commands with their own options. */
export type CommandName =
  | 'services'
  | 'top'
  | 'status'
  | 'check'
  | 'plan'
  | 'diff'
  | 'explain'
  | 'completion'
  | 'man';

/** A command with its own options. */
export interface CommandDefinition<Name extends string = CommandName> {
  readonly name: Name;
  /** Its purpose in one line. */
  readonly summary: string;
  readonly description: string;
  /** Its arguments. */
  readonly arguments?: readonly {
    /** As commander reads it: `[text]`, `<shell>`. */
    readonly syntax: string;
    readonly help: string;
    readonly choices?: readonly string[];
  }[];
  readonly options: readonly OptionDefinition[];
  /** Its output formats, the default first; none: it has no option `--output`. */
  readonly formats: readonly Format[];
  /** Whether it accepts the flags of the agent, which say which configuration and which objects it reads. */
  readonly inputs: boolean;
  /** The exit statuses. Status 2 is a failure of the command itself, of every command. */
  readonly statuses: readonly (readonly [status: number, meaning: string])[];
  /** Example arguments with their purpose. */
  readonly examples: readonly (readonly [args: string, purpose: string])[];
}

/** Runs a command; resolves to its exit status. */
export type CommandRunner = (invocation: Invocation) => Promise<number>;

/** A command with its arguments and options, which have been validated against its definition. */
export interface Invocation {
  readonly args: readonly string[];
  /** By the option's long name in camel case; values with the rule of a number are numbers. */
  readonly options: Readonly<Record<string, unknown>>;
  /** The flags of the agent. */
  readonly flags: KernelCommand;
  readonly output: Output;
}
