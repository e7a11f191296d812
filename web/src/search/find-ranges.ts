const mostRanges = 1000;
/** What was said; not names, buttons and lines about it. */
const said = '.markdown, .question-text';

/** Where words stand in what is drawn of a conversation, in the order of reading. */
export function findRanges(root: Element, pattern: RegExp): readonly Range[] {
  const ranges: Range[] = [];
  const blocks = [...root.querySelectorAll(said)].filter((block) => block.parentElement?.closest(said) === null);
  for (const block of blocks) {
    const walker = document.createTreeWalker(block, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node !== null && ranges.length < mostRanges; node = walker.nextNode()) {
      for (const { index, 0: word } of (node.nodeValue ?? '').matchAll(pattern)) {
        const range = document.createRange();
        range.setStart(node, index);
        range.setEnd(node, index + word.length);
        ranges.push(range);
      }
    }
  }
  return ranges;
}
