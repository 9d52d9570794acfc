// XML as text: elements with escaped attributes and content. Pure.

/** Values of attributes; undefined leaves the attribute out. */
export type Attributes = Readonly<Record<string, string | number | undefined>>;

/**
 * An element as text.
 *
 * @param children elements as text, or the result of {@link escapeXml}; none: an empty element
 */
export function element(name: string, attributes: Attributes, ...children: readonly string[]): string {
  const written = Object.entries(attributes)
    .filter(([, value]) => value !== undefined)
    .map(([attribute, value]) => ` ${attribute}="${escapeXml(textOf(value as string | number))}"`)
    .join('');
  return children.length === 0 ? `<${name}${written}/>` : `<${name}${written}>${children.join('')}</${name}>`;
}

/** Text as content of an element or value of an attribute. Characters that XML 1.0 forbids (2.2) are replaced. */
export function escapeXml(text: string): string {
  return text
    .replace(FORBIDDEN, '\ufffd')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that XML forbids
const FORBIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;

/** Coordinates have a tenth of a pixel. */
function textOf(value: string | number): string {
  return typeof value === 'string' ? value : String(Math.round(value * 10) / 10);
}
