import tokens from '../src/style/tokens.css?raw';
import { Section } from './section.tsx';

const [, root = ''] = /:root \{(.*?)\n\}/s.exec(tokens) ?? [];
/** Names from the style sheet, so that this page shows all of them. */
const names = [...root.matchAll(/^\s+--([\w-]+):/gm)].map(([, name = '']) => name);
const begins = (start: string) => names.filter((name) => name.startsWith(start));
const nonColorNames = /^(space|font|text|weight|leading|radius|lift|measure|quick|calm)/;

export function TokenSection() {
  return (
    <Section name="Tokens">
      <ul className="tokens">
        {names
          .filter((name) => !nonColorNames.test(name))
          .map((name) => (
            <li key={name}>
              <span className="swatch" style={{ background: `var(--${name})` }} />
              {name}
            </li>
          ))}
      </ul>
      <ul className="type-scale">
        {begins('text-').map((name) => (
          <li key={name} style={{ fontSize: `var(--${name})` }}>
            {name}: Ask once, and read 1,204 lines
          </li>
        ))}
        {begins('weight-').map((name) => (
          <li key={name} style={{ fontWeight: `var(--${name})` }}>
            {name}: Ask once, and read 1,204 lines
          </li>
        ))}
      </ul>
      <ul className="tokens">
        {begins('space-').map((name) => (
          <li key={name}>
            <span className="bar" style={{ width: `var(--${name})` }} />
            {name}
          </li>
        ))}
        {begins('radius-').map((name) => (
          <li key={name}>
            <span className="corner" style={{ borderRadius: `var(--${name})` }} />
            {name}
          </li>
        ))}
      </ul>
    </Section>
  );
}
