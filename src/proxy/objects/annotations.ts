// metadata.annotations → those that settings are read from, as they were written. What they mean is decided where the Service is
// planned: only the agent knows which are allowed.
import type { Fields } from '../input/fields.js';
import {
  type Annotations,
  READ_ANNOTATIONS,
  SETTING_PREFIX,
  type SettingHolder,
} from '../input/settingNames.js';

/** The longest text of an annotation that is kept, in characters: no setting has a longer one. */
export const LONGEST_ANNOTATION = 253;

/** The annotations of a kind of object that are read; undefined if there are none, as nearly always. */
export function decodeAnnotations(
  annotations: Fields<Readonly<Record<string, string>>>,
  holder: SettingHolder,
): Annotations | undefined {
  const known = READ_ANNOTATIONS[holder];
  let found: Record<string, string> | undefined;
  for (const name of annotations.names()) {
    if (known.has(name)) {
      found ??= {};
      found[name] = kept(annotations.text(name));
    } else if (name.startsWith(SETTING_PREFIX)) {
      annotations.report(name, `is not a setting of a ${holder}: docs/service-settings.md lists them`);
    }
  }
  return found;
}

/** A longer text is cut, so that it keeps no memory, and still breaks the rule of its setting: it is too long. */
function kept(text: string): string {
  if (text.length <= LONGEST_ANNOTATION) return text;
  // A slice of a text would keep the whole text.
  return Buffer.from(text.slice(0, LONGEST_ANNOTATION + 1), 'utf16le').toString('utf16le');
}
