/** The address of a link that may be followed; undefined for every scheme but these. */
export function safeLink(href: string): string | undefined {
  // Browsers pass over control characters inside a scheme.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  const address = href.replace(/[\u0000-\u0020\u007f]/g, '');
  if (!/^(https?:\/\/|mailto:)/i.test(address)) return undefined;
  return URL.canParse(address) ? address : undefined;
}
