// Decodes and validates a configuration like a configuration file.
import {
  completed,
  configurationErrors,
  type Decoded,
  decodeFields,
} from '../../../src/command/config/configuration.js';
import { MODES } from '../../../src/command/modes/select.js';

/** A decoded configuration. The program does not start if there are problems; they have the printed prefixes. */
export function decodeConfiguration(raw: Readonly<Record<string, unknown>>): Decoded {
  const { configuration: decoded, problems, unknown } = decodeFields(raw);
  const configuration = completed(decoded, MODES);
  const decoding = problems.map((problem) => `failed complete: failed to decode: ${problem}`);
  return { configuration, problems: [...decoding, ...configurationErrors(configuration, MODES)], unknown };
}
