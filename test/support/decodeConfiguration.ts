// Decodes and validates a configuration as loading a file does, without the file.
import {
  completed,
  configurationErrors,
  type Decoded,
  decodeFields,
} from '../../src/config/configuration.js';

/** A decoded configuration. If it has problems, the program would not start with it; they have the prefixes that it prints. */
export function decodeConfiguration(raw: Readonly<Record<string, unknown>>): Decoded {
  const { configuration: decoded, problems, unknown } = decodeFields(raw);
  const configuration = completed(decoded);
  const decoding = problems.map((problem) => `failed complete: failed to decode: ${problem}`);
  return { configuration, problems: [...decoding, ...configurationErrors(configuration)], unknown };
}
