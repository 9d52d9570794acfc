// Colours of the commands' output: only on a terminal, unless the environment decides otherwise.
import { styleText } from 'node:util';

/** A style of text, by its meaning. */
export type StyleName = 'heading' | 'good' | 'bad' | 'warning' | 'faint';

/** Applies styles to text; returns the text itself if there are no colours. */
export type Style = (name: StyleName, text: string) => string;

const FORMATS = {
  heading: 'bold',
  good: 'green',
  bad: 'red',
  warning: 'yellow',
  faint: 'dim',
} as const satisfies Record<StyleName, Parameters<typeof styleText>[0]>;

/** The escape sequences of the styles (SGR of ECMA-48), in a group. */
export const COLOURS = sequencesOf(Object.values(FORMATS));

function sequencesOf(formats: readonly (typeof FORMATS)[StyleName][]): RegExp {
  const parts = formats.flatMap((format) => styleText(format, '|', { validateStream: false }).split('|'));
  return new RegExp(`(${[...new Set(parts)].map((part) => part.replace('[', '\\[')).join('|')})`);
}

/**
 * Whether output has colours. FORCE_COLOR is stronger than NO_COLOR (https://no-color.org), which is stronger than the
 * terminal; this is the order of Node.js itself.
 *
 * @param isTerminal whether the output is a terminal
 */
export function hasColours(isTerminal: boolean, env: NodeJS.ProcessEnv): boolean {
  const { FORCE_COLOR: force, NO_COLOR: none, TERM: terminal } = env;
  if (force !== undefined) return !['0', 'false'].includes(force);
  if (none !== undefined && none !== '') return false;
  return isTerminal && terminal !== 'dumb';
}

/** The style for an output with or without colours. */
export function styleFor(coloured: boolean): Style {
  if (!coloured) return (_, text) => text;
  return (name, text) => styleText(FORMATS[name], text, { validateStream: false });
}
