import type { Chunk, ResponseCustomContent, StageDelta } from '#contract/chat/chunk.ts';
import { delta, finish, text } from '#test/chunks.ts';

/** The conversations of the screenshots: the questions and the events of the answers. */
export interface SampleConversation {
  readonly question: string;
  readonly events: readonly Chunk[];
}

export const trip: SampleConversation = {
  question: 'Two days in Lisbon in October: when is it dry, and what does a day cost?',
  events: answer(
    {
      index: 0,
      name: 'Asking Weather',
      content: '**Arguments**\n\n```json\n{"city": "Lisbon", "month": 10}\n```\n',
      status: null,
    },
    { index: 1, name: 'GET /v1/climate', content: 'Status 200', status: 'completed' },
    { index: 0, content: '\n**Result**\n\n9 rainy days, 62 mm.', status: 'completed' },
    { index: 2, name: 'Reading “City guide.pdf”', content: 'Two passages, pages 12 and 31.', status: 'completed' },
    'Go in the **first half of October**: on average it rains on three of those days, and the evenings are still mild.\n\n' +
      '| | Simple | Comfortable |\n|:--|--:|--:|\n| Night | €70 | €140 |\n| Meals | €25 | €55 |\n| Tram and train | €7 | €7 |\n' +
      '| **A day** | **€102** | **€202** |\n\n',
    {
      attachments: [
        {
          index: 0,
          title: 'Rainy days',
          type: 'application/vnd.plotly.v1+json',
          data: JSON.stringify({
            data: [
              { type: 'bar', name: 'Rainy days', x: ['Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'], y: [1, 1, 4, 9, 11, 12] },
              {
                type: 'scatter',
                mode: 'lines',
                name: 'Highest °C',
                x: ['Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'],
                y: [28, 28, 26, 22, 18, 15],
              },
            ],
          }),
        },
        {
          index: 1,
          title: 'City guide, page 31',
          reference_url: 'https://guide.example.com/lisbon#31',
        },
      ],
    },
  ),
};

export const roots: SampleConversation = {
  question: 'How do I find the roots of a quadratic, by hand and in Python?',
  events: answer(
    'By hand, for $ax^2 + bx + c = 0$ with $a \\neq 0$:\n\n$$x = \\frac{-b \\pm \\sqrt{b^2 - 4ac}}{2a}$$\n\n' +
      'What stands under the root tells how many there are. In Python:\n\n' +
      '```python\nimport cmath\n\ndef roots(a: float, b: float, c: float) -> tuple[complex, complex]:\n' +
      '    """Both roots, complex ones too."""\n    d = cmath.sqrt(b * b - 4 * a * c)\n    return (-b + d) / (2 * a), (-b - d) / (2 * a)\n\n' +
      'print(roots(1, -3, 2))  # ((2+0j), (1+0j))\n```\n\nTry it with:\n\n1. `roots(1, 2, 1)` – one root, twice\n2. `roots(1, 0, 1)` – none on the line\n',
  ),
};

/** Returns an answer from steps, texts, and content, in order. */
function answer(...parts: readonly (string | StageDelta | ResponseCustomContent)[]): readonly Chunk[] {
  return [delta({ role: 'assistant' }), ...parts.map(toEvent), finish()];
}

function toEvent(part: string | StageDelta | ResponseCustomContent): Chunk {
  if (typeof part === 'string') return text(part);
  return delta({ custom_content: isStage(part) ? { stages: [part] } : part });
}

function isStage(part: StageDelta | ResponseCustomContent): part is StageDelta {
  return 'index' in part;
}
