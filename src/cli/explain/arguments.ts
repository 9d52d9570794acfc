// The command line of explain: its own options, and the flags of the agent.
import { readFlags, UsageError } from '../../config/commandLine.js';
import { runExplain } from './explain.js';
import { readQuestion } from './question.js';

/** Options with a value that the agent does not have. */
const OWN = /^(--from|-o|--output)(?:=(.*))?$/s;

/** Runs explain with the arguments after its name; resolves to the exit status. Rejects with UsageError and other Errors. */
export async function explainCommand(args: readonly string[]): Promise<number> {
  const own = new Map<string, string>();
  const others: string[] = [];
  for (let i = 0; i < args.length; i++) {
    const argument = args[i] as string;
    const [, option, value] = OWN.exec(argument) ?? [];
    if (option === undefined) others.push(argument);
    else own.set(option === '-o' ? '--output' : option, value ?? args[++i] ?? '');
  }
  // Before or after all flags: another place could be the value of a flag.
  const target = [others[0], others.at(-1)].find((argument) => argument?.match(/^[^-].*:/));
  if (target === undefined) throw new UsageError('explain needs an argument: IP:PORT[/PROTO]');
  const format = own.get('--output') ?? 'text';
  if (format !== 'text' && format !== 'json')
    throw new UsageError(`--output must be text or json; found ${format}`);
  const flags = readFlags(others.filter((argument) => argument !== target));
  if (!('manifests' in flags)) throw new UsageError('explain needs no other command');
  const { report, lines, status } = await runExplain(readQuestion(target, own.get('--from')), flags);
  process.stdout.write(
    format === 'json' ? `${JSON.stringify(report, undefined, 2)}\n` : `${lines.join('\n')}\n`,
  );
  return status;
}
