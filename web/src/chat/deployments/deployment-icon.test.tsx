import { renderToStaticMarkup } from 'react-dom/server';
import { describe, expect, it } from 'vitest';
import { DeploymentIcon } from './deployment-icon.tsx';

const svg = 'data:image/SVG+xml,<svg/>';
const webp = 'data:image/webp;base64,AAAA';

describe('DeploymentIcon', () => {
  it.each([
    ['applications/b/app', svg, false],
    ['applications/b/app', webp, true],
    ['model', svg, true],
  ])('of %s shows the picture %s: %s', (id, iconUrl, isShown) => {
    expect(renderToStaticMarkup(<DeploymentIcon deployment={{ id, name: 'App', iconUrl }} />).includes('<img')).toBe(isShown);
  });
});
