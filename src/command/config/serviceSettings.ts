// `serviceSettings` and `--service-settings`: the settings that a Service may have by annotation. There is no word for all of them: a
// later version could then give tenants a setting that nobody decided about.
import { SETTING_NAMES, type SettingName } from '../../proxy/input/settingNames.js';
import { type KnownModes, modeNamed } from './modes.js';
import type { Configuration } from './schema.js';
import { closestTo } from './suggestion.js';

export { SETTING_NAMES, type SettingName } from '../../proxy/input/settingNames.js';

function isSetting(text: string): text is SettingName {
  return SETTING_NAMES.some((name) => name === text);
}

/** The rule that a word of the list breaks; undefined if it names a setting. */
export function settingRule(text: string): string | undefined {
  if (isSetting(text)) return undefined;
  const nearest = closestTo(text, SETTING_NAMES);
  const suggestion = nearest === undefined ? '' : ` (did you mean ${nearest}?)`;
  return `must be a setting of Services: ${SETTING_NAMES.join(', ')}${suggestion}`;
}

/**
 * The settings that are allowed. Each has the reason why it has no effect in the mode of the configuration; undefined if it has an
 * effect, or if the mode is unknown. Unknown words are passed over: validation refuses them.
 */
export function settingRulesOf(
  { serviceSettings, mode }: Pick<Configuration, 'serviceSettings' | 'mode'>,
  modes: KnownModes,
): ReadonlyMap<SettingName, string | undefined> {
  const selected = modeNamed(mode || modes.blank, modes);
  const had = selected ? (selected.serviceSettings ?? []) : SETTING_NAMES;
  return new Map(
    serviceSettings
      .filter(isSetting)
      .map((name) => [
        name,
        had.includes(name) ? undefined : withoutEffect(name, mode || modes.blank, modes),
      ]),
  );
}

/** The settings that are allowed, of which some have no effect on this node, for the reasons given. */
export function settingRulesOn(
  rules: ReadonlyMap<SettingName, string | undefined>,
  refused: ReadonlyMap<SettingName, string> = new Map(),
): ReadonlyMap<SettingName, string | undefined> {
  return new Map([...rules].map(([name, rule]) => [name, rule ?? refused.get(name)]));
}

function withoutEffect(name: SettingName, mode: string, { definitions }: KnownModes): string {
  const having = Object.keys(definitions).filter((each) =>
    definitions[each]?.serviceSettings?.includes(name),
  );
  return `has no effect in ${mode} mode: only ${having.join(' and ')} mode has it`;
}
