// Converts the output of a terminal, with the colours of screen.ts, to SVG. Pure.

/** A piece of a line in one style. */
interface Piece {
  readonly text: string;
  /** In characters, from the left. */
  readonly column: number;
  /** Names of classes of {@link STYLES}. */
  readonly style: ReadonlySet<string>;
}

/** Size of a character and of the margin, in px. */
const [WIDTH, HEIGHT, MARGIN] = [8, 18, 16];

/** Begins an escape sequence; `m` ends one that selects a style. */
const SEQUENCE = '\u001b[';

/** Codes of "select graphic rendition" (ECMA-48, 8.3.117) that begin a style. */
const BEGINS: Readonly<Record<number, string>> = {
  1: 'bold',
  2: 'dim',
  4: 'underline',
  31: 'red',
  32: 'green',
  33: 'yellow',
  36: 'cyan',
};
/** Codes that end styles; 0 ends all of them. */
const ENDS: Readonly<Record<number, readonly string[]>> = {
  0: Object.values(BEGINS),
  22: ['bold', 'dim'],
  24: ['underline'],
  39: ['red', 'green', 'yellow', 'cyan'],
};

/** Colours for light and dark mode. */
const STYLES = `
  text { font: 13px ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace; fill: #1f2328; white-space: pre }
  .paper { fill: #f6f8fa } .rule { fill: #1f2328 } .bold { font-weight: bold } .dim { fill: #59636e }
  .red { fill: #cf222e } .green { fill: #1a7f37 } .yellow { fill: #9a6700; font-weight: bold } .cyan { fill: #0969da }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 } .paper { fill: #0d1117 } .rule { fill: #e6edf3 } .dim { fill: #9198a1 }
    .red { fill: #ff7b72 } .green { fill: #3fb950 } .yellow { fill: #d29922 } .cyan { fill: #58a6ff }
  }
`;

/** Draws the output of a terminal; styles may span lines. */
export function terminalSvg(output: string): string {
  const lines = piecesOf(output.trimEnd());
  const columns = Math.max(...lines.flat().map(({ column, text }) => column + text.length), 0);
  const [width, height] = [2 * MARGIN + columns * WIDTH, 2 * MARGIN + lines.length * HEIGHT];
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">`,
    `<style>${STYLES}</style>`,
    `<rect class="paper" width="${width}" height="${height}" rx="6"/>`,
    ...lines.flatMap((pieces, row) => pieces.flatMap((piece) => draw(piece, row))),
    '</svg>',
    '',
  ].join('\n');
}

function draw({ text, column, style }: Piece, row: number): string[] {
  const [left, base] = [MARGIN + column * WIDTH, MARGIN + row * HEIGHT + 13];
  const classes = [...style].filter((name) => name !== 'underline').join(' ');
  const attribute = classes === '' ? '' : ` class="${classes}"`;
  // Each word has its own position, for any width of the font.
  const words = [...text.matchAll(/\S+(?: \S+)*/g)].map(({ 0: word, index }) => {
    return `<text${attribute} x="${left + index * WIDTH}" y="${base}">${escapeXml(word)}</text>`;
  });
  const rule = `<rect class="rule" x="${left}" y="${base + 3}" width="${text.length * WIDTH}" height="1"/>`;
  return style.has('underline') ? [...words, rule] : words;
}

/** The pieces of each line. */
function piecesOf(output: string): Piece[][] {
  let style: ReadonlySet<string> = new Set();
  return output.split('\n').map((line) => {
    const pieces: Piece[] = [];
    let column = 0;
    const add = (text: string) => {
      if (text !== '') pieces.push({ text, column, style });
      column += text.length;
    };
    const [before = '', ...rest] = line.split(SEQUENCE);
    add(before);
    for (const part of rest) {
      const [, codes = '', text = ''] = /^([\d;]*)m(.*)$/.exec(part) ?? [];
      style = nextStyle(style, codes);
      add(text);
    }
    return pieces;
  });
}

function nextStyle(style: ReadonlySet<string>, codes: string): ReadonlySet<string> {
  const next = new Set(style);
  for (const code of codes.split(';').map(Number)) {
    for (const name of ENDS[code] ?? []) next.delete(name);
    const begun = BEGINS[code];
    if (begun !== undefined) next.add(begun);
  }
  return next;
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
