import { StageList } from '../src/chat/turns/stage-list.tsx';
import { Markdown } from '../src/markdown/markdown.tsx';
import { Sample, Section } from './section.tsx';

const text = `# A journey
A paragraph with **weight**, *slant*, \`code\` and a [link](https://example.com).

## In steps
1. Look at the map.
2. Ask for the way.

- One bag
- Two books

### Numbers
| City | People |
|---|---:|
| Aarhus | 285,273 |
| Bergen | 289,330 |

> Somebody said this.

\`\`\`ts
const cities: readonly string[] = ['Aarhus', 'Bergen'];
\`\`\`

$$a^2 + b^2 = c^2$$`;

const stages = [
  { index: 0, name: 'Looking at the map', status: 'completed' as const },
  { index: 1, name: 'Asking for the way', status: 'failed' as const },
];
const times = { 0: { startedAtMs: 0, endedAtMs: 400 }, 1: { startedAtMs: 400, endedAtMs: 1_900 } };

export function AnswerSection() {
  return (
    <Section name="Answers">
      <Sample name="Steps that ended, and steps in progress">
        <StageList {...{ stages, times, isRunning: false }} />
        <StageList {...{ stages: [{ index: 0, name: 'Reading', status: null }], times: {}, isRunning: true }} />
      </Sample>
      <Markdown text={text} isGrowing={false} />
    </Section>
  );
}
