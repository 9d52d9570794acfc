// The terminal of top: an alternate screen, single keys, and changes of its size.
import { hasColours, type Style, styleFor } from '../output/colours.js';

/** The end of a wait: the key that was pressed, or the reason. */
export type TerminalEvent = 'quit' | 'timeout' | 'resized' | (string & {});

/** A terminal. */
export interface Terminal {
  readonly style: Style;
  columns(): number;
  rows(): number;
  /** Draws lines from the top, and one in the last line. */
  show(lines: readonly string[], last: string): void;
  /** Waits for a key or a change of the size, for some ms at most. */
  next(milliseconds: number): Promise<TerminalEvent>;
  /** Restores the screen and the mode of the keys. */
  close(): void;
}

/** The streams of a terminal. */
interface TerminalStreams {
  readonly input: Pick<NodeJS.ReadStream, 'isTTY' | 'setRawMode' | 'on' | 'off' | 'resume' | 'pause'>;
  readonly output: Pick<NodeJS.WriteStream, 'isTTY' | 'columns' | 'rows' | 'write' | 'on' | 'off'>;
}

// Escape sequences of ECMA-48 and xterm, which every terminal of Linux has.
const ALTERNATE_SCREEN = '\u001b[?1049h\u001b[?25l';
const FORMER_SCREEN = '\u001b[?25h\u001b[?1049l';
const HOME = '\u001b[H';
const CLEAR_LINE = '\u001b[K';
const CLEAR_BELOW = '\u001b[J';
const CONTROL_C = '\u0003';

/** Size of a terminal that reports none. */
const USUAL_SIZE = { columns: 80, rows: 24 };

/** Opens the terminal of the process. Ctrl-C and the signals that end a process become `quit`. */
export function openTerminal(
  { input, output }: TerminalStreams = { input: process.stdin, output: process.stdout },
): Terminal {
  /** Events that no one waited for. */
  const waiting: TerminalEvent[] = [];
  let wake: (() => void) | undefined;
  const happened = (event: TerminalEvent) => {
    waiting.push(event);
    wake?.();
  };
  const pressed = (bytes: Buffer | string) => {
    for (const key of String(bytes)) happened(key === 'q' || key === CONTROL_C ? 'quit' : key);
  };
  const resized = () => happened('resized');
  const ended = () => happened('quit');
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  // Standard input may be a file while standard output is a terminal: then there are no keys.
  if (input.isTTY) input.setRawMode(true);
  if (input.isTTY) input.on('data', pressed).resume();
  output.on('resize', resized);
  // Stays after the close: without a listener, the error of a terminal that is gone ends the process.
  output.on('error', ended);
  for (const name of signals) process.on(name, ended);
  output.write(ALTERNATE_SCREEN);
  return {
    style: styleFor(hasColours(output.isTTY === true, process.env)),
    columns: () => output.columns || USUAL_SIZE.columns,
    rows: () => output.rows || USUAL_SIZE.rows,
    show(lines, last) {
      const space = Math.max(0, (output.rows || USUAL_SIZE.rows) - lines.length - 1);
      const text = [...lines, ...Array<string>(space).fill('')].map((line) => `${line}${CLEAR_LINE}\r\n`);
      output.write(`${HOME}${text.join('')}${last}${CLEAR_LINE}${CLEAR_BELOW}`);
    },
    async next(milliseconds) {
      if (waiting.length === 0) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, milliseconds);
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
        wake = undefined;
      }
      return waiting.shift() ?? 'timeout';
    },
    close() {
      if (input.isTTY) input.setRawMode(false);
      input.off('data', pressed).pause();
      output.off('resize', resized);
      for (const name of signals) process.off(name, ended);
      output.write(FORMER_SCREEN);
    },
  };
}
