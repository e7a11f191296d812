import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { backgrounds, computeContrast, toAccents } from './brand.ts';

it('contrast returns the contrast ratio of WCAG', () => {
  expect(computeContrast('#000000', '#ffffff')).toBeCloseTo(21, 5);
  expect(computeContrast('#777777', '#ffffff')).toBeCloseTo(4.478, 3);
});

it('toAccents returns legible accents for every background in both themes', () => {
  for (const wish of ['#ffff00', '#000000', '#ffffff', '#0b57d0', '#ff0000', '#00ff88', '#7f7f7f']) {
    const accents = toAccents(wish);
    for (const look of ['light', 'dark'] as const) {
      const { accent, ink, soft } = accents[look];
      const least = Math.min(
        ...[...Object.values(backgrounds[look]), soft, ink].map((ground) => computeContrast(accent, ground)),
      );
      expect([wish, look, least >= 4.5]).toEqual([wish, look, true]);
    }
  }
});

it('toAccents keeps legible accents unchanged', () => {
  expect(toAccents('#0b57d0').light).toEqual({ accent: '#0b57d0', ink: '#ffffff', soft: '#dee6f2' });
  expect(toAccents('#9ecbff').dark.accent).toBe('#9ecbff');
});

it('backgrounds contains the background colors of the page', () => {
  const tokens = readFileSync(new URL('../../../web/src/style/tokens.css', import.meta.url), 'utf8');
  for (const name of ['ground', 'surface', 'raised'] as const)
    expect(tokens).toContain(`--${name}: light-dark(${backgrounds.light[name]}, ${backgrounds.dark[name]});`);
});
