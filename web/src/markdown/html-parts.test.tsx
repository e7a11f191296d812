import type { Token } from 'marked';
import { renderToStaticMarkup } from 'react-dom/server';
import { describe, expect, it } from 'vitest';
import { Block } from './block.tsx';
import { nestTags } from './html-parts.ts';
import { toBlocks } from './lexer.ts';

const render = (text: string): string =>
  renderToStaticMarkup(toBlocks(text).map((token) => <Block key={token.raw} token={token} isUnfinished={false} />));

describe('Markdown that models write', () => {
  it.each([
    ['H<sub>2</sub>O and x<sup>2</sup>', '<p dir="auto">H<sub>2</sub>O and x<sup>2</sup></p>'],
    ['one<br>two<br/>three', '<p dir="auto">one<br/>two<br/>three</p>'],
    ['<sub onclick="x">a</sub>', '<p dir="auto">&lt;sub onclick=&quot;x&quot;&gt;a&lt;/sub&gt;</p>'],
    ['an open <sup>tag', '<p dir="auto">an open &lt;sup&gt;tag</p>'],
    ['<sub>a <sup>b</sup></sub>', '<p dir="auto"><sub>a <sup>b</sup></sub></p>'],
  ])('draws %s', (text, html) => {
    expect(render(text)).toBe(html);
  });

  it('reads each of many tags only a few times', () => {
    let reads = 0;
    const toToken = (raw: string): Token => ({
      type: 'html',
      get raw() {
        reads += 1;
        return raw;
      },
    });
    const opened = Array.from({ length: 1000 }, () => toToken('<b>'));
    const paired = Array.from({ length: 1000 }, () => [toToken('<i>'), toToken('</i>')]).flat();
    expect([nestTags(opened).length, nestTags(paired).length]).toEqual([1000, 1000]);
    expect(reads).toBeLessThan(40_000);
  });

  it('draws line breaks in tables', () => {
    expect(render('| a |\n| - |\n| b<br>c |')).toContain('b<br/>c');
  });

  it('draws collapsible sections, also nested and unclosed ones', () => {
    const inner = '<details>\n<summary>Inner</summary>\n\nDeep.\n\n</details>\n';
    expect(render(`<details open>\n<summary>More **here**</summary>\n\n- One\n\n${inner}\n</details>\n\nAfter.`)).toBe(
      '<details open=""><summary dir="auto">More <strong>here</strong></summary><ul><li dir="auto">One</li></ul>' +
        '<details><summary dir="auto">Inner</summary><p>Deep.</p></details></details><p dir="auto">After.</p>',
    );
    expect(render('<details><summary>Open</summary>\n\nText')).toBe(
      '<details><summary dir="auto">Open</summary><p>Text</p></details>',
    );
  });

  it('draws alerts', () => {
    const html = render('> [!WARNING]\n> Do not **run**.\n>\n> - x\n\nAfter.');
    expect(html).toContain('data-kind="warning"');
    expect(html).toContain('Do not <strong>run</strong>.</p><ul>');
    expect(html).toContain('</blockquote><p dir="auto">After.</p>');
    expect(render('> [!OTHER]\n> x')).toContain('<blockquote dir="auto"><p>[!OTHER]');
  });

  it('draws footnotes', () => {
    const html = render('A claim.[^1] Another.[^two]\n\n[^1]: The *source*.\n[^two]: Second\n    line.');
    expect(html).toContain('claim.<sup><button');
    expect(html).toContain('data-footnote="1"');
    expect(html).toContain('The <em>source</em>.');
    expect(html).toContain('Second\nline.');
  });
});
