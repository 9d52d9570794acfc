// The messages that nft sends, from the output of `nft --debug=mnl`.

const HEADER = /^\|\s+(\d{10})\s+\|\t\| (message length|sequence number|port ID)|^\|\s+(\d{10})\s+\|/;
const TYPE = /^\| (\d{5}) \| [A-Z-]{4} \|/;
const ATTRIBUTE = /^\|(\d{5})\|([N-])[B-]\|(\d{5})\|/;
const DATA = /^\| ([0-9a-f]{2}) ([0-9a-f]{2}) ([0-9a-f]{2}) ([0-9a-f]{2}) {2}\|/;

/** The messages, from their headers on; without the flags of the messages. */
export function messagesInDump(output: string): Buffer[] {
  const messages: number[][] = [];
  // biome-ignore lint/suspicious/noControlCharactersInRegex: nft colours the headers of attributes
  for (const line of output.replace(/\x1b\[[0-9;]*m/g, '').split('\n')) {
    const header = HEADER.exec(line);
    if (header) {
      if (header[2] === 'message length') messages.push([]);
      messages.at(-1)?.push(...u32(Number(header[1] ?? header[3])));
      continue;
    }
    const attribute = ATTRIBUTE.exec(line);
    const data = DATA.exec(line);
    if (attribute) {
      const type = Number(attribute[3]) | (attribute[2] === 'N' ? 0x8000 : 0);
      messages.at(-1)?.push(...u16(Number(attribute[1])), ...u16(type));
    } else if (data) messages.at(-1)?.push(...data.slice(1).map((byte) => Number.parseInt(byte, 16)));
    else if (TYPE.test(line)) messages.at(-1)?.push(...u16(Number(TYPE.exec(line)?.[1])), 0, 0);
  }
  return messages.map((message) => Buffer.from(message));
}

/** Numbers of the headers are in the machine's byte order. */
function u32(number: number): Uint8Array {
  return new Uint8Array(Uint32Array.of(number).buffer);
}

function u16(number: number): Uint8Array {
  return new Uint8Array(Uint16Array.of(number).buffer);
}
