import { expect, it } from 'vitest';
import { measureEventLoopBlock } from '#test/event-loop-block.ts';
import { htmlToText } from './html-to-text.ts';

it('htmlToText keeps headings, lists, tables, and links', () => {
  const page = `<!doctype html><html><head><title>Open&nbsp;hours</title><style>p{color:red}</style></head><body>
    <script>if (a < b) alert('</p>')</script><!-- <p>hidden</p> -->
    <h2>Today &amp; tomorrow</h2><p>We open at <b>nine</b>,
    see <a href="/map?a=1&amp;b=2">the map</a> or <a href="#top">above</a>.</p>
    <ul><li>one<li>two</ul><table><tr><th>Day</th><th>Time</th></tr><tr><td>Mon</td><td>9&#8211;5</td></tr></table>
    <pre>a  b
c</pre></body></html>`;
  expect(
    htmlToText(page)
      .split('\n')
      .filter((line) => line !== ''),
  ).toEqual([
    ...['# Open hours', '## Today & tomorrow', 'We open at nine, see [the map](/map?a=1&b=2) or above.'],
    ...['- one', '- two', 'Day | Time |', 'Mon | 9–5 |', 'a  b', 'c'],
  ]);
});

it.each([
  ['1 < 2 and 3 > 2', '1 < 2 and 3 > 2'],
  ['<p>open', 'open'],
  ['a<script>never closed', 'a'],
  ['<!-- never closed', ''],
  ['<a href="x', ''],
  ['<P>İstanbul</P><SCRIPT>alert(1)</SCRIPT><p>Merhaba <b>dünya</b></p>', 'İstanbul\n\nMerhaba dünya'],
  ['&bogus; &#0; &#xD800;', '&bogus; &#0; &#xD800;'],
])('htmlToText tolerates invalid HTML: %s', (html, text) => {
  expect(htmlToText(html)).toBe(text);
});

it.each([
  ['<script src="x"/><p>a</p><style/>b', 'a\n\nb'],
  ['a <svg/>b <SVG viewBox="0 0 1 1" />c<object data="x"/>', 'a b c'],
  ['<title/><p>a</p><h2/>b<pre/>c  d <a href="/x"/>e', 'a\n\nb\nc d e'],
  ['<table><tr><td>a</td><td/><td>b</td></tr></table>', 'a |  | b |'],
  ['a<br/>b<script>hidden</script>c', 'a\nbc'],
])('htmlToText treats a tag with a slash as complete in XHTML: %s', (html, text) => {
  expect(htmlToText(html, { isXml: true })).toBe(text);
});

it.each([
  ['a <svg/>b <object data="x" />c <button/>d <math/>e', 'a b c d\ne'],
  ['a<svg><title>hidden</title><path/></svg>b', 'ab'],
  ['a<script src="x"/>hidden</script>b<textarea/>hidden', 'ab'],
])('htmlToText ignores the slash in HTML if browsers hide the text that follows: %s', (html, text) => {
  expect(htmlToText(html)).toBe(text);
});

it('htmlToText reads a page with many tags in linear time', async () => {
  const count = 100_000;
  let text = '';
  const read = (): void => {
    text = htmlToText('<td>a</td> <b>b</b>'.repeat(count));
  };
  expect(await measureEventLoopBlock(read)).toBeLessThan(3_000);
  expect(text).toBe('a | b'.repeat(count));
});

it('htmlToText reads a page with many tags with a slash in linear time', async () => {
  const count = 100_000;
  let text = '';
  const read = (): void => {
    text = htmlToText('<svg/>a<script/><title/>'.repeat(count), { isXml: true });
  };
  expect(await measureEventLoopBlock(read)).toBeLessThan(3_000);
  expect(text).toBe(Array(count).fill('a').join('\n\n'));
});
