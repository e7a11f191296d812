import type { Token } from 'marked';
import { describe, expect, it } from 'vitest';
import { toBlocks } from './lexer.ts';

const tags: Readonly<Record<string, string>> = { strong: 'b', em: 'i', del: 's', codespan: 'code', link: 'a' };

/** Renders the inline parts of a paragraph as HTML with short tags. */
function render(text: string): string {
  const [paragraph] = toBlocks(text);
  return (paragraph !== undefined && 'tokens' in paragraph ? (paragraph.tokens ?? []) : []).map(toHtml).join('');
}

function toHtml(token: Token): string {
  const tag = tags[token.type];
  const inner = 'tokens' in token && token.tokens !== undefined ? token.tokens.map(toHtml).join('') : token.raw;
  return tag === undefined ? inner : `<${tag}>${token.type === 'codespan' ? token.text : inner}</${tag}>`;
}

describe('emphasis next to Chinese, Japanese, and Korean text', () => {
  it.each([
    ['**中文（带括号）。**这句子', '<b>中文（带括号）。</b>这句子'],
    ['这是**“重要”**的事', '这是<b>“重要”</b>的事'],
    ['请看**（注意）**这里', '请看<b>（注意）</b>这里'],
    ['价格是**￥100**元', '价格是<b>￥100</b>元'],
    ['总价**$20**起', '总价<b>$20</b>起'],
    ['我用**C#**写程序', '我用<b>C#</b>写程序'],
    ['重点：**结论！**以及*「说明」*等', '重点：<b>结论！</b>以及<i>「说明」</i>等'],
    ['これは**大事です。**だから', 'これは<b>大事です。</b>だから'],
    ['彼は**「はい」**と言った', '彼は<b>「はい」</b>と言った'],
    ['関数**`run`**を呼ぶ', '関数<b><code>run</code></b>を呼ぶ'],
    ['例は**[文書](https://example.com)**にある', '例は<b><a>文書</a></b>にある'],
    ['**용어(term)**를 설명', '<b>용어(term)</b>를 설명'],
    ['𠮟**(正字)**です', '𠮟<b>(正字)</b>です'],
    ['葛\u{e0100}**(異体字)**の例', '葛\u{e0100}<b>(異体字)</b>の例'],
    ['中~~(删除)~~文', '中<s>(删除)</s>文'],
    ['a~~「b~~」', 'a<s>「b</s>」'],
    ['__注意__：事項', '<b>注意</b>：事項'],
    ['注意：__事項__', '注意：<b>事項</b>'],
    ['**一**，**二。**三', '<b>一</b>，<b>二。</b>三'],
    ['***强调（全部）。***后面', '<i><b>强调（全部）。</b></i>后面'],
  ])('marks %s', (text, html) => {
    expect(render(text)).toBe(html);
  });

  it.each([
    ['a**«b**c', 'a**«b**c'],
    ['a**(b)**c', 'a**(b)**c'],
    ['2 * 3 * 4', '2 * 3 * 4'],
    ['a*b*c', 'a<i>b</i>c'],
    ['foo_bar_baz', 'foo_bar_baz'],
    ['中_文_字', '中_文_字'],
    ['** 中文 **', '** 中文 **'],
    ['*(*foo*)*', '<i>(<i>foo</i>)</i>'],
    ['**foo, *(bar)* baz**', '<b>foo, <i>(bar)</i> baz</b>'],
    ['~~a~~ and ~b~', '<s>a</s> and <s>b</s>'],
    ['👍**(b)**c', '👍**(b)**c'],
  ])('parses %s like CommonMark', (text, html) => {
    expect(render(text)).toBe(html);
  });
});

it('shows a table with too many columns as text', () => {
  const toTable = (columns: number) => `${'|a'.repeat(columns)}|\n${'|-'.repeat(columns)}|\n${'|x\n'.repeat(3)}`;
  expect([100, 101].map((columns) => toBlocks(toTable(columns))[0]?.type)).toEqual(['table', 'paragraph']);
});
