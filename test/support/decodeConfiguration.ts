// A raw configuration → a checked one, as loading a file makes it, but for the file.
import { completed, type Decoded, decodeFields, faultsOf } from '../../src/config/configuration.js';

/** Reads and checks a configuration. With problems it would be refused; each begins as it is told to an operator. */
export function decodeConfiguration(raw: Readonly<Record<string, unknown>>): Decoded {
  const { configuration: decoded, problems, unknown } = decodeFields(raw);
  const configuration = completed(decoded);
  const undecoded = problems.map((problem) => `failed complete: failed to decode: ${problem}`);
  return { configuration, problems: [...undecoded, ...faultsOf(configuration)], unknown };
}
