// Colours and type of the charts, for light and dark mode. Pure.

/** A colour scheme, as `prefers-color-scheme` (Media Queries 5, 12.5) names it. */
export type Scheme = 'light' | 'dark';

/** The colours of a scheme. */
export interface Palette {
  readonly paper: string;
  readonly ink: string;
  readonly faint: string;
  readonly grid: string;
  /** Colours of lines by place: this project's, the limits', and those of the methods. */
  readonly lines: readonly string[];
}

/**
 * Colours that people with any colour vision can tell apart, after Okabe and Ito (https://jfly.uni-koeln.de/color/), with
 * a contrast to the paper of at least 3 to 1 (WCAG 2.2, 1.4.11).
 */
export const PALETTES: Readonly<Record<Scheme, Palette>> = {
  light: {
    paper: '#ffffff',
    ink: '#1f2328',
    faint: '#59636e',
    grid: '#e4e8ec',
    lines: ['#0072b2', '#1f2328', '#6e7781', '#d55e00', '#00835f', '#b0528a', '#8a6a00', '#7a4a2b'],
  },
  dark: {
    paper: '#0d1117',
    ink: '#e6edf3',
    faint: '#9198a1',
    grid: '#262c34',
    lines: ['#56b4e9', '#ffffff', '#9198a1', '#ff8c42', '#2fcb9d', '#e59ac6', '#e0bb3c', '#d0a58a'],
  },
};

/** Size of the text of labels, in px. */
export const LABEL_SIZE = 13;

/** Mean width of a character of a label, in px: no font is read, so this is a bound for common fonts. */
export const LABEL_CHARACTER = 7.7;

/** The style sheet of a chart. */
export function chartStyle(scheme: Scheme): string {
  return `${TYPE}${coloursOf(PALETTES[scheme])}`;
}

const TYPE = `
text { font-family: system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'DejaVu Sans', sans-serif; font-size: ${LABEL_SIZE}px }
.title { font-size: 17px; font-weight: 600 }
.tick { font-size: 12px }
.bold { font-weight: 600 }
.end { text-anchor: end }
.middle { text-anchor: middle }
.grid { fill: none; stroke-width: 1 }
.line { fill: none; stroke-width: 2; stroke-linejoin: round; stroke-linecap: round }
.ours { stroke-width: 3.5 }
.part { stroke-width: 1.5; stroke-dasharray: 1 4 }
.limit { stroke-dasharray: 2 5 }
.estimate { stroke-dasharray: 8 5 }
.leader { fill: none; stroke-width: 1; opacity: .6 }
.spread { stroke-width: 1.5; opacity: .6 }
`;

function coloursOf({ paper, ink, faint, grid, lines }: Palette): string {
  return [
    `.paper { fill: ${paper} } .grid { stroke: ${grid} }`,
    `text, .ink { fill: ${ink} } .faint { fill: ${faint} }`,
    ...lines.map(
      (colour, i) => `.stroke-${i} { stroke: ${colour} } .mark-${i} { fill: ${colour}; stroke: ${paper} }`,
    ),
    '',
  ].join('\n');
}
