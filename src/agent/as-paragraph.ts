/** A text as it stands after another: as a paragraph of its own, unless what is before ends in white space. */
export function asParagraph(before: string, text: string): string {
  return before === '' || /\s$/.test(before) ? text : `\n\n${text}`;
}
